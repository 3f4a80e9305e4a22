"""When to speak while a server lives on: it became ready, it failed and does not end, it moves no more."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

from vllm_triage.live.marks import marks_of

Event = Literal["ready", "failing", "stalled"]

# Seconds without a line after an error, until a server that lives on is taken to have failed.
_SETTLED_S = 5.0
# It may go on to answer health checks and to log: so many seconds after the error it is looked at all the same.
_LATEST_S = 20.0
# A server that serves may log errors of requests for weeks.
_AGAIN_S = 60.0
# How long is normal where the start stands is found out after this, since finding out costs something.
FIRST_LOOK_S = 60.0


@dataclass
class Watch:
    """Follows a log by what costs next to nothing: a few words in each piece, and the time.

    Args:
        now: Seconds of a clock that never goes back.
        stall_after: Seconds of silence that are a stall, whatever the phase; None for those of the phase.
        normal_s: Seconds of silence that are normal where the start stands; asked once a silence.
    """

    now: Callable[[], float]
    stall_after: float | None = None
    normal_s: Callable[[], float] = lambda: FIRST_LOOK_S

    def __post_init__(self) -> None:
        self._stalled = self._looked = False
        self._limit_s = 0.0
        self.ready = False
        self._moved = self.now()
        self._trouble: float | None = None
        self._asked = -_AGAIN_S
        self._await_stall()

    @property
    def silent_s(self) -> float:
        return self.now() - self._moved

    def saw(self, piece: bytes, words: Collection[str]) -> Event | None:
        """Take the next piece, with the watched words that were seen; "ready" once, when the server is."""
        seen = marks_of(piece, words)
        if seen.moved:
            self._moved = self.now()
            self._await_stall()
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
        if self.ready or self._stalled or self.silent_s < self._limit_s:
            return None
        if self.stall_after is None and not self._looked:
            self._limit_s, self._looked = self.normal_s(), True
            if self.silent_s < self._limit_s:
                return None
        self._stalled = True
        return "stalled"

    def ask_again(self) -> None:
        """It is too early to tell whether the error was survived."""
        self._trouble, self._asked = self.now(), self.now() - _AGAIN_S

    def _await_stall(self) -> None:
        self._stalled = self._looked = False
        self._limit_s = FIRST_LOOK_S if self.stall_after is None else self.stall_after

    def _settled(self) -> bool:
        assert self._trouble is not None
        since = self.now() - self._trouble
        return min(self.silent_s, since) >= _SETTLED_S or since >= _LATEST_S
