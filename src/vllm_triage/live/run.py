"""A command under our eyes: its output passed on and read, its signals and its exit status kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from vllm_triage.live.pipe import pump

_FORWARDED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGCONT")
# Processes that outlive their parent may keep its output open for ever.
_DRAIN_S = 2.0


def supervise(
    argv: Sequence[str], sinks: Iterable[int], feed: Callable[[bytes], object], tick: Callable[[], object]
) -> int:
    """Run a command to its end and return its exit status, -n if signal n ended it.

    Its standard output and error are one stream: a terminal of the same size where ours is one, so
    that it draws as it would without us, and a pipe elsewhere. It leads a process group of its own,
    to which the signals that we get are passed on.

    Args:
        argv: The command.
        sinks: File descriptors to which its output is passed on.
        feed: Takes every piece of it.
        tick: Called about every second.

    Raises:
        OSError: The command can't be started.
        Exception: What `feed` or `tick` raised, once the command has ended.
    """
    output, ours = _terminal() if sys.stdout.isatty() else os.pipe()[::-1]
    try:
        child = subprocess.Popen(list(argv), stdout=output, stderr=output, start_new_session=True)
    finally:
        os.close(output)
    with _forwarding(child, ours):
        ended_at: float | None = None

        def ended() -> bool:
            nonlocal ended_at
            if child.poll() is None:
                return False
            ended_at = ended_at if ended_at is not None else time.monotonic()
            return time.monotonic() - ended_at > _DRAIN_S

        def beat() -> None:
            _reap(child)
            tick()

        try:
            pump(ours, sinks, feed, beat, ended)
        finally:
            os.close(ours)
            status = child.wait()
    return status


def _terminal() -> tuple[int, int]:
    """(the command's side, ours) of a new terminal as large as this one."""
    import pty
    import termios

    ours, its = pty.openpty()
    _fit(ours)
    settings = termios.tcgetattr(its)
    settings[1] &= ~termios.ONLCR  # our own terminal adds the carriage returns
    termios.tcsetattr(its, termios.TCSANOW, settings)
    return its, ours


def _fit(terminal: int) -> None:
    import fcntl
    import termios

    size = fcntl.ioctl(sys.stdout.fileno(), termios.TIOCGWINSZ, b"\0" * 8)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)


@contextmanager
def _forwarding(child: subprocess.Popen[Any], ours: int) -> Iterator[None]:
    def forward(number: int, frame: FrameType | None) -> None:
        if number == getattr(signal, "SIGWINCH", None) and os.isatty(ours):
            _fit(ours)
        with suppress(ProcessLookupError):  # it has ended
            os.killpg(child.pid, number)

    numbers = [getattr(signal, name) for name in _FORWARDED if hasattr(signal, name)]
    before = {number: signal.signal(number, forward) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _reap(child: subprocess.Popen[Any]) -> None:
    """Bury orphans that fell to us as process 1 of a container; the command itself is Popen's."""
    if os.getpid() != 1:
        return
    while child.poll() is None:
        try:
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        if found is None or found.si_pid in {0, child.pid}:
            return
        os.waitpid(found.si_pid, 0)


def die_like(status: int) -> int:
    """The exit status for a command's own: ends this process with the same signal, if one ended the command."""
    if status >= 0:
        return status
    number = -status
    if os.getpid() != 1:
        sys.stdout.flush()
        sys.stderr.flush()
        if number in {
            getattr(signal, name, None)
            for name in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGQUIT")
        }:
            import resource

            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the core that matters is the command's
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    return 128 + number
