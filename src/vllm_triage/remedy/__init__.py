"""Remedies of a rule, filled with the fields of the log."""

from __future__ import annotations

from vllm_triage.remedy.fill import fill_remedies
from vllm_triage.remedy.templates import MissingFieldError, fill

__all__ = ["MissingFieldError", "fill", "fill_remedies"]
