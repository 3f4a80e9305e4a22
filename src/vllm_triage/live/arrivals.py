"""A file descriptor as the pieces that come out of it, and the seconds in which nothing comes."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator

TICK_S = 1.0
# Silence after which a burst of lines is over.
_PAUSE_S = 0.02
_CHUNK = 1 << 16


def arrivals(source: int, bell: int | None) -> Iterator[bytes]:
    """What is read from `source`, until it ends.

    Yields b"" when a burst of pieces is over, for each second in which nothing comes, and whenever a
    signal rang the bell, so that the caller looks at the clock and at what the signal asked for.

    Args:
        source: File descriptor that is read; the other side of a terminal counts as ended when it is closed.
        bell: File descriptor of `signals.caught`, or None.
    """
    wait_s = TICK_S
    while True:
        if not _readable(source, bell, wait_s):
            wait_s = TICK_S
            yield b""
            continue
        wait_s = _PAUSE_S
        try:
            piece = os.read(source, _CHUNK)
        except BlockingIOError:
            continue  # another program made it non-blocking, and read what there was
        except OSError:
            return  # a terminal says that its other side is gone with an error
        if not piece:
            return
        yield piece


def what_is_there(source: int) -> bytes:
    """What can be read without waiting, at most what a large pipe holds."""
    if not _readable(source, None, 0):
        return b""
    try:
        return os.read(source, 1 << 20)
    except OSError:
        return b""


def _readable(source: int, bell: int | None, seconds: float) -> bool:
    if sys.platform == "win32":
        return True  # there, pipes can't be waited for: the clock stands still while nothing comes
    ready, _, _ = select.select([source] if bell is None else [source, bell], [], [], seconds)
    if bell in ready:
        os.read(bell, 512)
        return False
    return source in ready
