"""doctor, preflight, collect and --facts, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vllm_triage.cli import main

LOG = "ModuleNotFoundError: No module named 'no_such_module_here'\n"


def test_doctor_says_something_useful_and_its_status_tells(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["doctor"])
    table = capsys.readouterr().out

    assert status == ("wrong" in {line.split()[0] for line in table.splitlines() if line[:1].strip()})
    assert "memory" in table


def test_doctor_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor", "--format", "json"])

    assert {line["area"] for line in json.loads(capsys.readouterr().out)} >= {"GPU", "memory", "disk"}


def test_preflight_names_rules_and_what_to_change(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["preflight", "--", "vllm", "serve", "/no/such/model"])
    said = capsys.readouterr().out

    assert status == 1
    assert "model-path-invalid" in said
    assert "What to do" in said


def test_preflight_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    main(["preflight", "--format", "json", "--", "vllm", "serve", "/no/such/model"])

    assert "model-path-invalid" in {fault["rule"] for fault in json.loads(capsys.readouterr().out)}


@pytest.mark.parametrize("words", [[], ["--"], ["--", "ls"]])
def test_preflight_of_no_server_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["preflight", *words]) == 2
    assert "vllm serve" in capsys.readouterr().err


def test_facts_travel_from_host_to_host(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "crash.log").write_text(LOG)
    main(["collect"])
    (tmp_path / "facts.json").write_text(capsys.readouterr().out)

    main([str(tmp_path / "crash.log"), "--facts", str(tmp_path / "facts.json"), "--format", "json"])

    assert json.loads(capsys.readouterr().out)["probes"]["ran"] is True


@pytest.mark.parametrize("content", ["", "{}", "no facts"])
def test_a_file_without_facts_is_refused(
    tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "crash.log").write_text(LOG)
    (tmp_path / "facts.json").write_text(content)

    assert main([str(tmp_path / "crash.log"), "--facts", str(tmp_path / "facts.json")]) == 2
    assert "facts.json" in capsys.readouterr().err


def test_probing_is_on_demand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "crash.log").write_text(LOG)
    reports = []
    for options in ([], ["--probe"]):
        main([str(tmp_path / "crash.log"), "--format", "json", *options])
        reports.append(json.loads(capsys.readouterr().out))

    assert [report["probes"]["ran"] for report in reports] == [False, True]
    assert [len(report["diagnoses"][0]["checks"]) for report in reports] == [0, 1]
