"""Which pieces of a log are worth a look, found without taking the log apart."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vllm_triage.lazy import lazy
from vllm_triage.scan.literals import LiteralIndex

_READY = ("Application startup complete", "Uvicorn running on", "server is ready")
_FATAL = (
    "Traceback (most recent call last)",
    "ERROR 0",
    "ERROR 1",
    "CRITICAL 0",
    "CRITICAL 1",
    "Error: ",
    "Exception: ",
    "died unexpectedly",
    "EngineDeadError",
    "Fatal Python error",
    "terminate called after",
    "Segmentation fault",
    "core dumped",
    "exit code",
    "Killed",
)
# Lines that say only that somebody still waits.
_WAITING = (
    "core engine proc(s) to start",
    "shared memory broadcast block",
    "still waiting",
    "Waiting for creating a placement group",
    "Retrying in ",
    "' thrown while requesting ",
)
_LONGEST = max(map(len, (*_READY, *_FATAL, *_WAITING)))
_WAITING_LINE = lazy("|".join(map(re.escape, _WAITING)).encode(), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a piece holds: a sign of readiness, of a failure, and anything but waiting."""

    ready: bool
    fatal: bool
    moved: bool


class Marks:
    """Finds marks in a stream that is cut anywhere."""

    def __init__(self) -> None:
        self._index = LiteralIndex((*_READY, *_FATAL, *_WAITING))
        self._tail = b""

    def of(self, piece: bytes) -> Seen:
        """The marks that end in this piece, or near its beginning."""
        text = self._tail + piece
        self._tail = text[-_LONGEST:]
        found = {literal for literal, end in self._index.find(text)}
        first_waiting = len(_READY) + len(_FATAL)
        waits = any(literal >= first_waiting for literal in found)
        return Seen(
            ready=any(literal < len(_READY) for literal in found),
            fatal=any(len(_READY) <= literal < first_waiting for literal in found),
            moved=_moves(piece) if waits else not piece.isspace(),
        )


def _moves(piece: bytes) -> bool:
    return any(line.strip() and not _WAITING_LINE.search(line) for line in piece.splitlines())
