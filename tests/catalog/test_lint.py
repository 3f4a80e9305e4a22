"""What the lint says about a rule that is valid and yet not ready."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from vllm_triage.catalog.hazards import hazards
from vllm_triage.catalog.lint import Surroundings, lint
from vllm_triage.catalog.load import read_pack

Write = Callable[..., Path]
AROUND = Surroundings(
    rule_ids={"disk-full", "cache-permission"},
    functions={"largest-max-model-len"},
    checks=(),
    lines=str.splitlines,
)


def found(pack: Path) -> list[tuple[str, int, str]]:
    """(check, line, key) of each problem."""
    rules, problems = read_pack(pack)
    assert not problems
    return [(problem.check, problem.line, problem.key) for problem in lint(rules, AROUND)]


def test_a_whole_rule_has_no_problems(write: Write, tmp_path: Path) -> None:
    write()

    assert found(tmp_path / "pack") == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("id: disk-full", "id: disk-is-full", ("file-name", 1, "id")),
        ("family: host", "family: memory", ("file-name", 2, "family")),
        ("title: No", "beats: [nobody]\ntitle: No", ("unknown-rule", 3, "beats[0]")),
        ("title: No", "beats: [disk-full]\ntitle: No", ("unknown-rule", 3, "beats[0]")),
        ("{needed_gib:.1f}", "{size}", ("unknown-name", 9, "summary")),
        ("under {path}", "under {folder}", ("unknown-name", 19, "remedies[0].title")),
        ("'{path}']", "'{folder}']", ("unknown-name", 21, "remedies[0].command[2]")),
        ("df, -h,", "df, -x=a,b,", ("cut-at-comma", 21, "remedies[0].command[2]")),
        ("    command: [df, -h, '{path}']\n", "", ("idle-remedy", 19, "remedies[0]")),
        ("  path: {type: str}\n", "", ("group-without-field", 12, "signatures[0].pattern")),
        (
            "fields:\n  path",
            "fields:\n  gpus: {type: int}\n  path",
            ("field-without-group", 16, "fields.gpus"),
        ),
        ("remedies:", "derive:\n  n: guess\nremedies:", ("unknown-function", 19, "derive.n")),
        ("remedies:", "confirm: [{check: any}]\nremedies:", ("unknown-check", 18, "confirm[0].check")),
        ("device: ", "drive: ", ("no-own-example", 12, "signatures[0].pattern")),
        ("  - https://docs.python.org/3/library/errno.html\n", "  []\n", ("no-reference", 23, "references")),
        ("    matches: false\n", "", ("no-near-miss", 25, "examples")),
        (
            "signatures:\n",
            "signatures:\n  - {id: errno, phrase: disk is full}\n",
            ("duplicate-signature", 12, "signatures[1].id"),
        ),
    ],
)
def test_each_lack_is_found(
    write: Write, tmp_path: Path, old: str, new: str, expected: tuple[str, int, str]
) -> None:
    # Only where the pattern stands, so that the examples keep their words.
    changes = (f"{old}''?(?P<path>", f"{new}''?(?P<path>") if old == "device: " else (old, new)
    write("host/disk-full.yaml", changes)

    assert expected in found(tmp_path / "pack")


def test_stable_must_be_earned(write: Write, tmp_path: Path, rule_text: str) -> None:
    text = rule_text.partition("examples:")[0]
    write(text=text)
    assert {check for check, _, _ in found(tmp_path / "pack")} >= {"not-stable", "no-example", "no-near-miss"}

    write(text=text.replace("status: stable", "status: experimental"))
    assert "not-stable" not in {check for check, _, _ in found(tmp_path / "pack")}


def test_a_destructive_remedy_is_not_first(write: Write, tmp_path: Path) -> None:
    destructive = "remedies:\n  - {title: Delete it, risk: destructive, steps: [Delete it]}\n"
    write("host/disk-full.yaml", ("remedies:\n", destructive))

    assert ("destructive-first", 19, "remedies[0].risk") in found(tmp_path / "pack")


def test_ids_are_compared_within_a_pack(write: Write, tmp_path: Path) -> None:
    write("host/disk-full.yaml")
    write("memory/disk-full.yaml", ("family: host", "family: memory"))

    assert [check for check, _, _ in found(tmp_path / "pack")] == ["duplicate-id"]


@pytest.mark.parametrize("flat", [True, False])
def test_the_folder_is_the_family_except_in_a_flat_pack(write: Write, tmp_path: Path, flat: bool) -> None:
    path = write("disk-full.yaml")

    assert found(path if flat else tmp_path / "pack") == []


@pytest.mark.parametrize(
    ("pattern", "checks"),
    [
        (r"No space left on (?P<where>[^']{1,80})' after .{0,80}?(?P<n>\d+) bytes", []),
        (r"trailing message: (?P<message>.*)", []),
        (r"(?:\d{1,3}\.){3}\d{1,3} refused", []),
        (r"one (?:of (?:\w{1,20}, ){0,9})?them failed", []),
        (r"oh no", []),
        (r"(?:good words|ab)", ["short-literal"]),
        (r".*needle", ["leading-gap", "open-gap"]),
        (r"(?:.{0,9}needle|hay stack)", ["leading-gap"]),
        (r"^.*?needle$", ["leading-gap", "open-gap"]),
        (r"needle.*haystack", ["open-gap"]),
        (r"needle(?: .+)? haystack", ["open-gap"]),
        (r"needle[^\n]*haystack", ["open-gap"]),
        (r"needle (?:a+)+!", ["nested-repeat"]),
        (r"needle (?:\w+\s?)*!", ["nested-repeat"]),
        (r"needle (?:\w{1,99}-){0,99}!", ["nested-repeat"]),
        (r"two  blanks", ["two-blanks"]),
        (r"request chatcmpl-(?:\d+)", ["noisy-literal"]),
    ],
)
def test_hazards_of_patterns(pattern: str, checks: list[str]) -> None:
    assert [check for check, _ in hazards(pattern)] == checks
