"""The user's cache folder: what takes long to make and is the same the next time.

Nothing there is needed: what cannot be read, or was written for something else, is made again.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path


def kept(name: str, key: bytes, folder: Path | None = None) -> bytes | None:
    """What `keep` wrote under this name, or None if it did not, or for another key.

    Args:
        name: The name of the file.
        key: One line that tells what the data was made from.
        folder: Where to look; the user's cache folder if not given.
    """
    place = folder or _user_folder()
    if place is None:
        return None
    try:
        written, _, data = (place / name).read_bytes().partition(b"\n")
    except OSError:
        return None
    return data if written == key else None


def keep(name: str, key: bytes, data: bytes, folder: Path | None = None) -> None:
    """Keep data for the next time, whole or not at all; where that is not possible, nothing happens."""
    place = folder or _user_folder()
    if place is not None:
        with suppress(OSError):
            _write(place / name, key + b"\n" + data)


def _user_folder() -> Path | None:
    home = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME")
    try:
        return Path(home or Path.home() / ".cache") / "vllm-triage"
    except RuntimeError:  # a container's user without a home
        return None


def _write(place: Path, data: bytes) -> None:
    """Whole or not at all, whoever else writes or reads it at the same time."""
    import tempfile

    place.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=place.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, place)
    except OSError:
        os.unlink(name)
        raise
