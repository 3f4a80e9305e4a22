"""The report in one line, for -q."""

from __future__ import annotations

from vllm_triage.report.model import Report
from vllm_triage.report.words import confidence, evidence_place, place, root_message, verdict


def render(report: Report) -> str:
    cause, error = report.cause, report.root_error
    if cause:
        first = cause.evidence[0] if cause.evidence else None
        proof = f" ({evidence_place(first)}: {first.text})" if first else ""
        return f"failed: {cause.rule}, {confidence(cause)}: {cause.title}{proof}\n"
    if report.verdict == "failed" and error:
        return f"{verdict(report)} ({place(error.line, error.process)}: {root_message(report)})\n"
    return f"{verdict(report)}\n"
