"""Find the root cause of a failed vLLM start in its log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vllm_triage.catalog import CatalogError
    from vllm_triage.pipeline import Stream, Triager, triage
    from vllm_triage.report import Report

__version__ = "0.1.0"
__all__ = ["CatalogError", "Report", "Stream", "Triager", "__version__", "triage"]

_HOMES = {
    "CatalogError": "vllm_triage.catalog",
    "Report": "vllm_triage.report",
    "Stream": "vllm_triage.pipeline",
    "Triager": "vllm_triage.pipeline",
    "triage": "vllm_triage.pipeline",
}


def __getattr__(name: str) -> Any:
    # Loaded on first use, so that `vllm-triage --version` does not pay for pydantic.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
