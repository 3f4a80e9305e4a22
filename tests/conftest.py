"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings

from tests.builders import KV_CACHE, make_finding
from vllm_triage.catalog.rule import Catalog
from vllm_triage.model import Context, Log, Outcome
from vllm_triage.report import Report
from vllm_triage.report.build import build

# Machines that run the tests differ too much for a deadline per example.
settings.register_profile("default", deadline=None)
# A change is judged by the same examples each time; new ones are found while working.
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


@pytest.fixture
def report_of() -> Callable[..., Report]:
    """`report_of(verdict, ...)`: the report on an Outcome with these parts."""

    def make(verdict: str = "failed", context: Context | None = None, **parts: Any) -> Report:
        outcome = Outcome(verdict, context=context or Context(), **parts)  # type: ignore[arg-type]
        return build(outcome, Log((), (), (), 200), Catalog({KV_CACHE.id: KV_CACHE}, "test"))

    return make


@pytest.fixture
def failed(report_of: Callable[..., Report]) -> Report:
    """A failure with one cause."""
    return report_of(
        findings=(make_finding(),),
        context=Context(
            vllm_version="0.11.0",
            engine="v1",
            model="demo-org/demo-7b",
            args={"model": "demo-org/demo-7b", "max_model_len": 32768},
        ),
    )
