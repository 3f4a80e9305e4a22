"""When to speak while a server lives on: it became ready, it failed and does not end, it moves no more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from vllm_triage.live.marks import Marks

Event = Literal["ready", "failing", "stalled"]

# Seconds without a line after an error, until a server that lives on is taken to have failed.
_SETTLED_S = 5.0
# It may go on to answer health checks and to log: so many seconds after the error it is looked at all the same.
_LATEST_S = 20.0
# A server that serves may log errors of requests for weeks.
_AGAIN_S = 60.0
# Seconds a phase may be silent; generous, since a false alarm costs trust and a late one costs minutes.
STALL_S = {
    "download": 900.0,
    "weights": 900.0,
    "compile": 1800.0,
    "profile": 900.0,
    "graph-capture": 900.0,
    "warm-up": 900.0,
}
DEFAULT_STALL_S = 600.0


@dataclass
class Watch:
    """Follows a log by what costs next to nothing: a few words in each piece, and the time.

    Args:
        now: Seconds of a clock that never goes back.
        stall_after: Seconds of silence that are a stall, whatever the phase; None for those of the phase.
        phase: Names the phase the log is in; asked only when it has been silent for a while.
    """

    now: Callable[[], float]
    stall_after: float | None = None
    phase: Callable[[], str | None] = lambda: None

    def __post_init__(self) -> None:
        self.ready = False
        self._marks = Marks()
        self._moved = self.now()
        self._trouble: float | None = None
        self._asked = -_AGAIN_S
        self._stalled = False

    @property
    def silent_s(self) -> float:
        return self.now() - self._moved

    def saw(self, piece: bytes) -> Event | None:
        """Take the next piece; "ready" once, when the server is."""
        seen = self._marks.of(piece)
        if seen.moved:
            self._moved, self._stalled = self.now(), False
        if seen.fatal and self._trouble is None:
            self._trouble = self.now()
        if not self.ready and seen.ready:
            self.ready, self._trouble = True, None
            return "ready"
        return None

    def tick(self) -> Event | None:
        """Something to look into, now that time has passed: "failing" after an error, "stalled" before readiness."""
        now = self.now()
        if self._trouble is not None and self._settled() and now - self._asked >= _AGAIN_S:
            self._trouble, self._asked = None, now
            return "failing"
        shortest = self.stall_after if self.stall_after is not None else DEFAULT_STALL_S
        if self.ready or self._stalled or self.silent_s < shortest:
            return None
        limit = (
            self.stall_after
            if self.stall_after is not None
            else STALL_S.get(self.phase() or "", DEFAULT_STALL_S)
        )
        if self.silent_s < limit:
            return None
        self._stalled = True
        return "stalled"

    def _settled(self) -> bool:
        assert self._trouble is not None
        since = self.now() - self._trouble
        return min(self.silent_s, since) >= _SETTLED_S or since >= _LATEST_S
