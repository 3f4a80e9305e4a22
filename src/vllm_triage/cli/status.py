"""The exit statuses: public, and decided here alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vllm_triage.report import Report

NO_FAILURE = 0
CAUSE_NAMED = 1
SOMETHING_WRONG = 1
USAGE = 2
NO_CAUSE_NAMED = 3
OUR_ERROR = 4
CANNOT_RUN = 126
INTERRUPTED = 128 + 2
READER_GONE = 128 + 13

# Tells where an exception came from, which is nothing that a person could act on.
_NOT_A_CAUSE = "internal-vllm-error"


def status_of(report: Report) -> int:
    """The exit status for a report."""
    if report.verdict != "failed":
        return NO_FAILURE
    return CAUSE_NAMED if report.cause and report.cause.rule != _NOT_A_CAUSE else NO_CAUSE_NAMED
