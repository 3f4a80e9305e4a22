"""Whose environment is looked at: that of the program which is named, not of another on PATH."""

from __future__ import annotations

from pathlib import Path

import pytest

from vllm_triage import Triager
from vllm_triage.model import Origin
from vllm_triage.probes.subject import of_command, of_failure


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Two environments, one of which PATH names."""
    for name in ("named", "on-path"):
        (tmp_path / name / "lib/python3.12/site-packages").mkdir(parents=True)
        (tmp_path / name / "pyvenv.cfg").write_text("home = /usr/bin\n")
        (tmp_path / name / "bin").mkdir()
        for program in ("python", "vllm"):
            file = tmp_path / name / "bin" / program
            file.write_text(f"#!{file.parent}/python\n")
            file.chmod(0o755)
    return tmp_path


def site(place: Path, name: str) -> tuple[str, ...]:
    return (str(place / name / "lib/python3.12/site-packages"),)


@pytest.mark.parametrize(
    "program, whose",
    [("{0}/named/bin/vllm", "named"), ("{0}/named/bin/python", "named"), ("vllm", "on-path"), ("python", "on-path")],
)  # fmt: skip
def test_a_start_to_come(place: Path, program: str, whose: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(place / "on-path" / "bin"))

    assert of_command(None, program=program.format(place)).site_packages == site(place, whose)


@pytest.mark.parametrize(
    "program, whose",
    [("{0}/named/bin/vllm", "named"), ("named/bin/vllm", "named"), ("vllm", "on-path"), ("env", "on-path")],
)
def test_a_start_that_failed(place: Path, program: str, whose: str) -> None:
    variables = {"PATH": str(place / "on-path" / "bin")}
    origin = Origin((program.format(place), "serve"), variables, str(place))
    outcome, log = Triager().outcome("ERROR: it failed")

    assert of_failure(outcome, log, origin).site_packages == site(place, whose)
