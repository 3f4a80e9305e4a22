"""A growing file as `tail -F` reads it: through rotation, truncation and a name that is not there yet."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

_CHUNK = 1 << 16


def follow(path: Path, wait: Callable[[], bool]) -> Iterator[bytes]:
    """The pieces of a file from its beginning, and what is appended to it.

    Args:
        path: The file; a new one of the same name is read after the old one's rest.
        wait: Called when there is nothing to read; sleeps a little, and returns False to stop.
    """
    file: BinaryIO | None = None
    try:
        while True:
            file = file or _open(path)
            piece = file.read(_CHUNK) if file else b""
            if piece:
                yield piece
                continue
            if file and _is_shorter(file):
                file.seek(0)
            elif file and _is_another(file, path):
                file.close()
                file = None
                continue
            if not wait():
                return
    finally:
        if file:
            file.close()


def _open(path: Path) -> BinaryIO | None:
    try:
        return path.open("rb", buffering=0)
    except FileNotFoundError:
        return None


def _is_shorter(file: BinaryIO) -> bool:
    return os.fstat(file.fileno()).st_size < file.tell()


def _is_another(file: BinaryIO, path: Path) -> bool:
    """Whether the name belongs to another file by now; a name that is gone may come back."""
    try:
        there, ours = path.stat(), os.fstat(file.fileno())
    except FileNotFoundError:
        return False
    return (there.st_dev, there.st_ino) != (ours.st_dev, ours.st_ino)
