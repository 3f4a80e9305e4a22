"""One small JSON object on a failure, for places with little room such as Kubernetes' termination log."""

from __future__ import annotations

import json

from vllm_triage.report.model import Report

MAX_BYTES = 4096
_TEXT = 400


def render(report: Report, status: int | None = None) -> str:
    """The event, at most 4,096 bytes of UTF-8; long texts are cut first, then left out."""
    cause = report.cause
    proof = cause.evidence[0] if cause and cause.evidence else None
    error = report.root_error
    event = {
        "verdict": report.verdict,
        "rule": cause.rule if cause else None,
        "status": cause.status if cause else None,
        "retry": cause.retry if cause else "unknown",
        "exit_status": status,
        "line": proof.line if proof else error.line if error else None,
        "title": cause.title if cause else None,
        "evidence": (proof.text if proof else error.message if error else "")[:_TEXT] or None,
        "summary": (cause.summary or "")[:_TEXT] or None if cause else None,
        "remedy": cause.remedies[0].title[:_TEXT] if cause and cause.remedies else None,
        "command": cause.remedies[0].command if cause and cause.remedies else None,
        "missing": (report.missing or "")[:_TEXT] or None,
        "tool_version": report.tool_version,
    }
    for name in ("command", "remedy", "summary", "missing", "evidence"):
        text = json.dumps(event, ensure_ascii=False)
        if len(text.encode()) <= MAX_BYTES:
            return text
        event[name] = None
    return json.dumps(event, ensure_ascii=False)
