"""Tells of a log that is being written what is worth telling, once each, with the report of that moment."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from vllm_triage.live.stall import normal_s
from vllm_triage.live.watch import Event, Watch
from vllm_triage.model import Ending

if TYPE_CHECKING:
    from vllm_triage.pipeline import Stream
    from vllm_triage.report import Report

Announce = Callable[[Event, "Report"], object]
# An error that no rule is sure of may be one that the start survives: so many seconds of silence tell.
_UNSURE_S = 30.0


class Herald:
    """Looks at a stream when its watch says that something may have happened.

    Args:
        stream: The log.
        announce: Told when the server is ready, has failed and lives on, or stands still.
        stall_after: Seconds of silence that are a stall; None for those of the phase.
        now: Seconds of a clock that never goes back.
    """

    def __init__(
        self,
        stream: Stream,
        announce: Announce,
        stall_after: float | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream
        self._announce = announce
        self._watch = Watch(now, stall_after, self._normal_s)
        self._told: str | None = None

    @property
    def silent_s(self) -> float:
        """Seconds since the log last moved."""
        return self._watch.silent_s

    def saw(self, piece: bytes, words: Collection[str]) -> None:
        """The stream has got this piece, and saw these words of `WATCHED`."""
        self._look(self._watch.saw(piece, words))

    def tick(self) -> None:
        """Some time has passed."""
        self._look(self._watch.tick())

    def _look(self, event: Event | None) -> None:
        if event is None:
            return
        report = self._stream.report_at(Ending(silent_s=self.silent_s) if event == "stalled" else None)
        if event == "ready":
            if report.verdict == "healthy":
                self._announce(event, report)
            return
        # An error that was answered, or told before, is nothing new.
        if report.verdict != "failed" or self._told == _gist(report):
            return
        if event == "failing" and _goes_on(report):
            return
        if event == "failing" and not _is_sure(report) and self.silent_s < _UNSURE_S:
            self._watch.ask_again()
            return
        self._told = _gist(report)
        self._announce(event, report)

    def _normal_s(self) -> float:
        """Seconds of silence that are normal where the start stands."""
        return normal_s(self._stream.report.context.phase, self._stream.log)


def _is_sure(report: Report) -> bool:
    return report.cause is not None and report.cause.status != "possible"


def _goes_on(report: Report) -> bool:
    """Whether a phase of the start began after the error: it survived that one."""
    evidence = report.cause.evidence if report.cause else ()
    error = report.root_error.line if report.root_error else max((e.line for e in evidence), default=0)
    return any(phase.line > error for phase in report.context.timeline)


def _gist(report: Report) -> str:
    return report.cause.rule if report.cause else str(report.root_error)
