"""What a piece of a log says about the server, told by the words that were seen in it."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from vllm_triage.lazy import lazy
from vllm_triage.scan.watched import FATAL, READY, WAITING

_WAITING_LINE = lazy("|".join(map(re.escape, WAITING)).encode(), re.IGNORECASE)


class Marks(NamedTuple):
    """A sign of readiness, of a failure, and of anything but waiting."""

    ready: bool
    fatal: bool
    moved: bool


_MOVED = Marks(ready=False, fatal=False, moved=True)


def marks_of(piece: bytes, words: Collection[str]) -> Marks:
    """What is told by the words of `WATCHED` that were seen in a piece, or in the lines that it ended."""
    if not words:
        return _MOVED._replace(moved=not piece.isspace())
    waits = any(word in words for word in WAITING)
    return Marks(
        ready=any(word in words for word in READY),
        fatal=any(word in words for word in FATAL),
        moved=_moves(piece) if waits else not piece.isspace(),
    )


def _moves(piece: bytes) -> bool:
    return any(line.strip() and not _WAITING_LINE.search(line) for line in piece.splitlines())
