"""One log that is being written: fed, watched, and reported at the right moments."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from vllm_triage.live.stall import normal_s
from vllm_triage.live.watch import Event, Watch

if TYPE_CHECKING:
    from vllm_triage.model import Ending, Log
    from vllm_triage.pipeline import Stream, Triager
    from vllm_triage.report import Report

# An error that no rule is sure of may be one that the start survives: so many seconds of silence tell.
_UNSURE_S = 30.0
Announce = Callable[[Event, "Report"], None]


class Session:
    """Takes the pieces of a log; loads the tool with the first one, after its echo.

    Args:
        triager: Makes the Triager.
        announce: Told when the server is ready, has failed and lives on, or stands still; None for silence.
        stall_after: Seconds of silence that are a stall; None for those of the phase.
        now: Seconds of a clock that never goes back.
    """

    def __init__(
        self,
        triager: Callable[[], Triager],
        announce: Announce | None = None,
        stall_after: float | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._make = triager
        self._announce = announce
        self._watch = Watch(now, stall_after, self._normal_s)
        self._told: str | None = None

    @cached_property
    def _stream(self) -> Stream:
        return self._make().stream()

    def feed(self, piece: bytes) -> None:
        self._stream.feed(piece)
        self._tell(self._watch.saw(piece))

    def tick(self) -> None:
        """To be called about every second, also when nothing comes."""
        self._tell(self._watch.tick())

    @property
    def log(self) -> Log:
        """What has come so far, taken apart."""
        return self._stream.log

    @property
    def silent_s(self) -> float:
        """Seconds since the log last moved."""
        return self._watch.silent_s

    def provisional(self) -> Report:
        """The report on a log whose writer lives on."""
        return self._stream.report

    def close(self, ending: Ending | None = None) -> Report:
        """The log has ended."""
        return self._stream.close(ending)

    def _normal_s(self) -> float:
        """Seconds of silence that are normal where the start stands."""
        return normal_s(self._stream.report.context.phase, self._stream.log)

    def _tell(self, event: Event | None) -> None:
        if event is None or self._announce is None:
            return
        from vllm_triage.model import Ending

        report = self._stream.report_at(Ending(silent_s=self._watch.silent_s) if event == "stalled" else None)
        if event == "ready":
            fits = report.verdict == "healthy"
        elif event == "failing" and _goes_on(report):
            fits = False
        elif event == "failing" and not _is_sure(report) and self._watch.silent_s < _UNSURE_S:
            self._watch.ask_again()
            fits = False
        else:
            # An error that was answered, or told before, is nothing new.
            fits = report.verdict == "failed" and self._told != _gist(report)
            self._told = _gist(report) if fits else self._told
        if fits:
            self._announce(event, report)


def _is_sure(report: Report) -> bool:
    return report.cause is not None and report.cause.status != "possible"


def _goes_on(report: Report) -> bool:
    """Whether a phase of the start began after the error: it survived that one."""
    evidence = report.cause.evidence if report.cause else ()
    error = report.root_error.line if report.root_error else max((e.line for e in evidence), default=0)
    return any(phase.line > error for phase in report.context.timeline)


def _gist(report: Report) -> str:
    return report.cause.rule if report.cause else str(report.root_error)
