"""`follow FILE`: a file that grows, is rotated and is truncated, like `tail -F` from its beginning."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Generator, Iterator
from pathlib import Path

_CHUNK = 1 << 18
_POLL_S = 0.25


def followed(path: Path, bell: int | None) -> Iterator[bytes]:
    """What the file holds and what is added to it, without an end.

    A file of that name that takes its place is read from its beginning, after the rest of the old
    one; one that became shorter is read from its beginning, too. Yields b"" while nothing comes.

    Args:
        path: The file; it may not be there yet.
        bell: File descriptor of `signals.caught`, or None.
    """
    file: int | None = None
    try:
        while True:
            if file is None:
                file = _open(path)
            while file is not None and (piece := os.read(file, _CHUNK)):
                yield piece
            if file is not None:
                file = yield from _changed(path, file)
                if file is None:
                    continue
            yield b""
            _rest(bell)
    finally:
        if file is not None:
            os.close(file)


def _changed(path: Path, file: int) -> Generator[bytes, None, int | None]:
    """The file to go on with: this one, from its beginning if it was cut, or None for the next of its name."""
    read, now = os.lseek(file, 0, os.SEEK_CUR), os.fstat(file)
    if now.st_size < read:
        os.lseek(file, 0, os.SEEK_SET)
        return file
    try:
        named = os.stat(path)
    except OSError:
        return file  # between two files of a rotation, or gone for good
    if os.path.samestat(named, now):
        return file
    # Its writer may have added to it until the new one was there.
    while piece := os.read(file, _CHUNK):
        yield piece
    os.close(file)
    return None


def _open(path: Path) -> int | None:
    try:
        return os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return None


def _rest(bell: int | None) -> None:
    if bell is None:
        time.sleep(_POLL_S)
    elif select.select([bell], [], [], _POLL_S)[0]:
        os.read(bell, 512)
