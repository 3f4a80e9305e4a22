"""The public answer and its renderings, one file each."""

from __future__ import annotations

from vllm_triage.report.model import (
    ChainLink,
    Check,
    Consequence,
    Context,
    Diagnosis,
    Evidence,
    Frame,
    Notice,
    PhaseTime,
    Remedy,
    Report,
    RootError,
)

__all__ = [
    "ChainLink",
    "Check",
    "Consequence",
    "Context",
    "Diagnosis",
    "Evidence",
    "Frame",
    "Notice",
    "PhaseTime",
    "Remedy",
    "Report",
    "RootError",
]
