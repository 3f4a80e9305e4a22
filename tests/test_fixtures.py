"""Whole logs, each with a sidecar that says where it is from and what the answer is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from vllm_triage import Triager
from vllm_triage.report import Report

LOGS = Path(__file__).parent / "fixtures" / "logs"
CASES = sorted(LOGS.glob("*.yaml"))


@pytest.fixture(scope="module")
def triager() -> Triager:
    return Triager()


def load(sidecar: Path) -> tuple[dict[str, Any], Path]:
    return yaml.safe_load(sidecar.read_text(encoding="utf-8")), sidecar.with_suffix(".log")


def shown(report: Report) -> str:
    """The line that the report shows as the root of the failure."""
    if report.diagnoses:
        return report.diagnoses[0].evidence[0].text
    assert report.root_error is not None
    return report.root_error.message


@pytest.mark.parametrize("sidecar", CASES, ids=lambda path: path.stem)
def test_the_answer_is_the_expected_one(triager: Triager, sidecar: Path) -> None:
    meta, log = load(sidecar)
    expected = meta["expected"]

    report = triager.triage(log)

    if expected[0] == "none":
        assert report.verdict != "failed"
        assert not report.diagnoses
    elif expected[0] == "cause-not-in-log":
        assert report.verdict == "failed"
        assert not report.diagnoses
        assert report.missing
    else:
        assert report.verdict == "failed"
        assert report.diagnoses[0].rule in expected


@pytest.mark.parametrize("sidecar", CASES, ids=lambda path: path.stem)
def test_the_root_line_is_shown_with_its_number(triager: Triager, sidecar: Path) -> None:
    meta, log = load(sidecar)
    if not meta.get("root_line") or meta["expected"][0] == "none":
        pytest.skip("the log shows no root line")

    report = triager.triage(log)

    text, root = " ".join(shown(report).split()), " ".join(meta["root_line"].split())
    assert root in text or text in root
    if report.diagnoses:
        number = report.diagnoses[0].evidence[0].line
        lines = log.read_bytes().decode("utf-8", "replace").split("\n")
        assert text[:40] in " ".join(lines[number - 1].split())
