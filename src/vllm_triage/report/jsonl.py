"""The report as one line of JSON, for many logs in one stream."""

from __future__ import annotations

from vllm_triage.report.json import render

__all__ = ["render"]
