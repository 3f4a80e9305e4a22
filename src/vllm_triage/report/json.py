"""The report as JSON, for programs."""

from __future__ import annotations

from vllm_triage.report.model import Report


def render(report: Report) -> str:
    return report.model_dump_json() + "\n"
