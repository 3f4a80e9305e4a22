"""Signals while a log is being read: handled, and loud enough to end a wait."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def caught(handlers: Mapping[int, Callable[[int], object]]) -> Iterator[int | None]:
    """Call a handler with the signal's number when it comes; as before afterwards.

    Yields a file descriptor that becomes readable with every signal. A signal that was ignored
    (nohup, a background job) stays ignored.
    """
    if sys.platform == "win32":
        bell, rope = None, -1
    else:
        bell, rope = os.pipe()
        os.set_blocking(bell, False)
        os.set_blocking(rope, False)
    before = {}
    rope_before = signal.set_wakeup_fd(rope, warn_on_full_buffer=False)
    try:
        for number, handler in handlers.items():
            if signal.getsignal(number) is not signal.SIG_IGN or number == getattr(signal, "SIGCHLD", None):
                before[number] = signal.signal(number, _calling(handler))
        yield bell
    finally:
        for number, old in before.items():
            signal.signal(number, old)
        signal.set_wakeup_fd(rope_before)
        if bell is not None:
            os.close(bell)
            os.close(rope)


def _calling(handler: Callable[[int], object]) -> Callable[[int, object], None]:
    def call(number: int, frame: object) -> None:
        handler(number)

    return call


@contextmanager
def tail_is_read() -> Iterator[None]:
    """What asks us to end ends the reading, not the report: Ctrl-C is meant for the writer, too."""
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {
        number: signal.signal(number, lambda number, frame: None)
        for number in numbers
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
