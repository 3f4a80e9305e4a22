"""Ten typical reports in every form, as they were last read by eye: `make snapshots` writes them anew, git shows what changed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from vllm_triage import Triager
from vllm_triage.report import Report, github, markdown, oneline, text

FIXTURES = Path(__file__).parents[1] / "fixtures" / "logs"
SNAPSHOTS = Path(__file__).parent / "snapshots"
LOGS = (
    "kv-cache-below-max-len-compose-v0.11.0",
    "gpu-memory-held-v0.11.0",
    "cuda-oom-weights-tp2-v0.8.5",
    "cudnn-missing-v0.6.6",
    "port-in-use-v0.11.0",
    "path-absolute-missing",
    "hub-private-401",
    "only-consequences-v0.11.0",
    "crash-loop-cri-v0.11.0",
    "healthy-eager",
)
FORMS: dict[str, Callable[[Report], str]] = {
    "60.txt": lambda report: text.render(report, 60),
    "80.txt": lambda report: text.render(report, 80),
    "200.txt": lambda report: text.render(report, 200),
    "verbose.txt": lambda report: text.render(report, 100, verbose=True),
    "line.txt": oneline.render,
    "md": markdown.render,
    "github.txt": github.render,
}


@pytest.fixture(scope="module")
def triager() -> Triager:
    return Triager()


def without_versions(document: str, report: Report) -> str:
    """The catalog's version changes with every rule."""
    return document.replace(report.catalog_version, "CATALOG").replace(report.tool_version, "VERSION")


@pytest.mark.parametrize("log", LOGS)
def test_a_report_reads_as_it_was_last_approved(triager: Triager, log: str) -> None:
    report = triager.triage((FIXTURES / f"{log}.log").read_bytes())
    for form, render in FORMS.items():
        path = SNAPSHOTS / f"{log}.{form}"
        made = without_versions(render(report), report)
        if os.environ.get("SNAPSHOTS") == "write":
            path.parent.mkdir(exist_ok=True)
            path.write_text(made, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == made, "if it is better now: make snapshots"


@pytest.mark.parametrize("log", LOGS)
def test_the_plain_form_is_ascii_and_fits_its_width(triager: Triager, log: str) -> None:
    report = triager.triage((FIXTURES / f"{log}.log").read_bytes())
    for width in (60, 80, 120, 200):
        rows = text.render(report, width).splitlines()

        assert all(row.isascii() for row in rows)
        # Commands stay whole, so that they can be pasted.
        assert all(len(row) <= width or row.startswith("    ") for row in rows)
        assert len(rows) <= 23
