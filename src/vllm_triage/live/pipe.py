"""Standard input as it comes: passed on at once, then looked at."""

from __future__ import annotations

import errno
import os
import select
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType

TERMINATED = 128 + signal.SIGTERM
TICK_S = 1.0
_CHUNK = 1 << 16


def pump(
    source: int,
    sinks: Iterable[int],
    feed: Callable[[bytes], object],
    tick: Callable[[], object] | None = None,
    ended: Callable[[], bool] = lambda: False,
) -> None:
    """Read `source` to its end; write each piece to the sinks, then feed it.

    Writing comes first, so that a reader of the echo never waits for us. A sink that is closed or
    full is given up, and the reading goes on; an error of `feed` or `tick` ends both of them and not
    the echo, since the server that writes must not die of our fault.

    Args:
        source: File descriptor that is read; a terminal's end with EIO.
        sinks: File descriptors of the echo.
        feed: Takes every piece, cut anywhere.
        tick: Called about every second.
        ended: Asked about every second: whether to end although the source is still open.

    Raises:
        Exception: What `feed` or `tick` raised, once the source has ended.
    """
    failure: Exception | None = None
    open_sinks = list(sinks)
    due = time.monotonic() + TICK_S
    while True:
        piece = None
        if tick is None or _readable(source, max(due - time.monotonic(), 0)):
            piece = _read(source)
            if not piece:
                break
            open_sinks = [sink for sink in open_sinks if _write(sink, piece)]
        try:
            if piece and failure is None:
                feed(piece)
            if tick is not None and time.monotonic() >= due:
                due = time.monotonic() + TICK_S
                if failure is None:
                    tick()
                if piece is None and ended():
                    break
        except Exception as error:
            failure = error
    if failure is not None:
        raise failure


def _readable(source: int, timeout_s: float) -> bool:
    return bool(select.select([source], [], [], timeout_s)[0])


def _read(source: int) -> bytes:
    try:
        return os.read(source, _CHUNK)
    except OSError as error:
        if error.errno == errno.EIO:  # the other side of a terminal is closed
            return b""
        raise


class Terminated(BaseException):
    """SIGTERM came: what has been read so far is all there will be."""


@contextmanager
def signals_held() -> Iterator[None]:
    """Ctrl-C is ignored, since it reaches the writer too, whose last lines are still to come; SIGTERM raises.

    Raises:
        Terminated: Inside the block, when SIGTERM comes.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        raise Terminated

    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, signal.SIG_IGN),
        signal.SIGTERM: signal.signal(signal.SIGTERM, stop),
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


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
