"""`vllm-triage rules ...`: what it prints, where, and how it ends."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import vllm_triage.catalog as catalog_package
from vllm_triage.catalog.load import compile_pack
from vllm_triage.cli import main

RULE = """\
id: odd-gadget
family: demo
title: The gadget is odd
rank: specific
phase: any
retry: change
status: stable
since: 0.1.0
signatures:
  - id: odd
    pattern: 'the gadget (?P<name>\\w{1,20}) is oddly shaped'
fields:
  name: {type: str}
remedies:
  - title: Take another than {name}
    risk: safe
    steps: [Take another]
references: [https://example.org/gadgets]
examples:
  - log: |
      ValueError: the gadget alpha is oddly shaped
    fields: {name: alpha}
  - log: |
      ValueError: the gadget alpha is gone
    matches: false
"""
CRASH = """\
INFO 10-02 09:14:01 [api_server.py:1839] vLLM API server version 0.11.0
(EngineCore_DP0 pid=271) ERROR 10-02 09:14:45 [core.py:708] Traceback (most recent call last):
(EngineCore_DP0 pid=271) ERROR 10-02 09:14:45 [core.py:708]   File "/opt/site-packages/vllm/v1/worker/worker.py", line 7, in load
(EngineCore_DP0 pid=271) ERROR 10-02 09:14:45 [core.py:708]     raise ValueError(message)
(EngineCore_DP0 pid=271) ERROR 10-02 09:14:45 [core.py:708] ValueError: The frobnicator 'abc' wants 12,288 widgets
"""

Run = Callable[..., SimpleNamespace]


@pytest.fixture
def rule(tmp_path: Path) -> Path:
    path = tmp_path / "odd-gadget.yaml"
    path.write_text(RULE)
    return path


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> Run:
    """Run the command line with one built-in rule, `calm-gadget`."""
    builtin = tmp_path_factory.mktemp("builtin") / "calm-gadget.yaml"
    builtin.write_text(RULE.replace("odd-gadget", "calm-gadget").replace("odd", "calm"))
    catalog = compile_pack(builtin)
    monkeypatch.setattr(catalog_package, "builtin_catalog", lambda: catalog)
    monkeypatch.setattr("vllm_triage.catalog.locate.builtin_rules", lambda: builtin.parent)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))

    def _run(*words: str | Path) -> SimpleNamespace:
        status = main(["rules", *map(str, words)])
        out, err = capsys.readouterr()
        return SimpleNamespace(status=status, out=out, err=err)

    return _run


def test_list_shows_one_rule_a_line(run: Run) -> None:
    done = run("list")

    assert done.out == "calm-gadget  demo  specific  The gadget is calm\n"
    assert done.status == 0


def test_list_says_which_rules_are_replaced(run: Run, rule: Path) -> None:
    rule.write_text(RULE.replace("odd-gadget", "calm-gadget").replace("title: The", "title: My"))

    assert run("list", "--rules", rule).out.endswith("  My gadget is odd (replaces a built-in rule)\n")


def test_list_goes_on_without_a_broken_pack(run: Run, rule: Path) -> None:
    rule.write_text("id: 3\n")

    done = run("list", "--rules", rule)

    assert "calm-gadget" in done.out
    assert f"{rule}:1:5: id: expected text" in done.err
    assert done.status == 0


@pytest.mark.parametrize("command", ["lint", "test"])
@pytest.mark.parametrize("given", [True, False])
def test_a_good_rule(run: Run, rule: Path, command: str, given: bool) -> None:
    done = run(command, *[rule] * given)

    assert done.out.startswith("1 rule, ")
    assert done.status == 0


@pytest.mark.parametrize("command", ["lint", "test"])
def test_a_file_that_breaks_the_format(run: Run, rule: Path, command: str) -> None:
    rule.write_text(RULE.replace("rank: specific", "rank: special").replace("since: 0.1.0\n", ""))

    done = run(command, rule)

    lines = done.out.splitlines()
    assert lines[0] == f"{rule}:1:1: since: expected this key, got nothing"
    assert lines[1].startswith(f"{rule}:4:7: rank: expected specific, generic")
    assert lines[2:] == ["2 problems"]
    assert done.status == 1


def test_lint_says_what_is_missing(run: Run, rule: Path) -> None:
    rule.write_text(RULE.replace("references: [https://example.org/gadgets]\n", ""))

    done = run("lint", rule)

    assert "[no-reference]" in done.out
    assert done.status == 1


def test_lint_takes_the_lines_as_patterns_see_them(run: Run, rule: Path) -> None:
    rule.write_text(
        RULE.replace("'the gadget", "'^the gadget").replace(
            "ValueError: the gadget alpha is oddly", "INFO 10-02 09:14:01 [a.py:1] the  gadget alpha is oddly"
        )
    )

    assert run("lint", rule).status == 0


def test_test_says_which_example_fails(run: Run, rule: Path) -> None:
    rule.write_text(RULE.replace("fields: {name: alpha}", "fields: {name: beta}"))

    done = run("test", rule)

    assert done.out.splitlines() == [
        f"{rule}:20:5: examples[0]: expected name 'beta', got 'alpha' [example]",
        "1 problem",
    ]
    assert done.status == 1


@pytest.mark.parametrize("command", ["lint", "test", "new"])
def test_a_path_that_is_not_there(run: Run, tmp_path: Path, command: str) -> None:
    done = run(command, tmp_path / "gone.yaml")

    assert "gone.yaml: no such file" in done.err
    assert done.out == ""
    assert done.status == 2


def test_schema_is_json(run: Run) -> None:
    done = run("schema")

    assert json.loads(done.out)["additionalProperties"] is False
    assert done.status == 0


@pytest.fixture
def crash(tmp_path: Path) -> Path:
    path = tmp_path / "crash.log"
    path.write_text(CRASH)
    return path


def test_new_writes_a_rule_that_finds_its_failure(run: Run, crash: Path, tmp_path: Path) -> None:
    written = run("new", crash)
    path = tmp_path / "frobnicator-wants-widgets.yaml"
    path.write_text(written.out)

    assert written.status == 0
    assert run("test", path).out == "1 rule, 1 example, all as they should be\n"
    rule = compile_pack(path).rules["frobnicator-wants-widgets"]
    assert rule.signatures[0].exception == ("ValueError",)
    assert rule.examples[0].log == CRASH
    assert rule.fields.keys() == {"name", "number"}


def test_new_lacks_only_what_nobody_but_the_author_knows(run: Run, crash: Path, tmp_path: Path) -> None:
    path = tmp_path / "frobnicator-wants-widgets.yaml"
    run("new", crash, "-o", path)

    lines = run("lint", path).out.splitlines()
    assert [line.rpartition("[")[2] for line in lines[:-1]] == ["no-reference]", "no-near-miss]"]


def test_new_keeps_an_existing_file(run: Run, crash: Path, rule: Path) -> None:
    done = run("new", crash, "-o", rule)

    assert rule.read_text() == RULE
    assert "File exists" in done.err
    assert done.status == 2


def test_new_holds_no_secrets(run: Run, crash: Path) -> None:
    crash.write_text(CRASH.replace("'abc'", "'hf_" + "a1B2" * 8 + "'"))

    assert "hf_a1B2" not in run("new", crash).out


def test_new_reads_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(CRASH.encode())))

    assert run("new", "-").out.startswith("id: frobnicator-wants-widgets\n")


def test_new_says_that_a_rule_knows_it_already(run: Run, crash: Path) -> None:
    crash.write_text(
        CRASH.replace("The frobnicator 'abc' wants 12,288 widgets", "the gadget x is calmly shaped")
    )

    done = run("new", crash)

    assert "the rule calm-gadget names this failure already" in done.err
    assert done.out.startswith("id: ")


def test_new_needs_an_error(run: Run, crash: Path) -> None:
    crash.write_text("INFO 10-02 09:14:01 [api_server.py:1839] vLLM API server version 0.11.0\n")

    done = run("new", crash)

    assert "no error to make a rule of" in done.err
    assert done.out == ""
    assert done.status == 1
