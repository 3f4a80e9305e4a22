"""Standard input as it comes: passed on at once, then looked at."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_CHUNK = 1 << 16


def pump(source: int, sink: int | None, feed: Callable[[bytes], object]) -> None:
    """Read `source` to its end; write each piece to `sink`, then feed it.

    Writing comes first, so that a reader of the echo never waits for us. A sink that is closed or
    full ends the echo and not the reading; an error of `feed` ends the feeding and not the echo,
    since the server that writes must not die of our fault.

    Args:
        source: File descriptor that is read.
        sink: File descriptor of the echo, or None for no echo.
        feed: Takes every piece, cut anywhere.

    Raises:
        Exception: What `feed` raised, once the source has ended.
    """
    failure: Exception | None = None
    while piece := os.read(source, _CHUNK):
        if sink is not None and not _write(sink, piece):
            sink = None
        if failure is None:
            try:
                feed(piece)
            except Exception as error:
                failure = error
    if failure is not None:
        raise failure


@contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Ctrl-C reaches the writer of the pipe too: it ends the log, and its last lines are still to come."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _write(sink: int, piece: bytes) -> bool:
    """Write all of it; False if the sink takes no more."""
    rest = memoryview(piece)
    while rest:
        try:
            rest = rest[os.write(sink, rest) :]
        except BlockingIOError:
            # Another program made the descriptor non-blocking.
            select.select([], [sink], [])
        except OSError:
            return False
    return True
