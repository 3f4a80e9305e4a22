"""A rule's examples judged by the answers of the tool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from vllm_triage.catalog.examples import failing_examples
from vllm_triage.catalog.load import read_pack

FOUND = {"path": "/models/demo", "needed_gib": 3.5, "more": 1}


@dataclass
class Named:
    rule: str
    fields: dict[str, Any] = field(default_factory=dict)


@dataclass
class Answer:
    diagnoses: list[Named] = field(default_factory=list)
    notices: list[Named] = field(default_factory=list)
    consequences: list[Named] = field(default_factory=list)
    verdict: str = "failed"


def wrong(pack: Path, *, example: Answer, near_miss: Answer) -> list[tuple[str, str]]:
    rules, _ = read_pack(pack)

    def triage(log: str) -> Answer:
        return example if log.startswith("OSError") else near_miss

    return [(problem.key, problem.message) for problem in failing_examples(rules, triage)]


@pytest.fixture
def pack(write: Callable[..., Path]) -> Path:
    return write()


def test_right_answers(pack: Path) -> None:
    right = Answer([Named("disk-full", FOUND), Named("other")])

    assert wrong(pack, example=right, near_miss=Answer([Named("other")])) == []


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer(), "expected disk-full first, got none (verdict failed)"),
        (
            Answer([Named("other"), Named("disk-full", FOUND)]),
            "expected disk-full first, got other, disk-full (verdict failed)",
        ),
        (Answer([Named("disk-full", {**FOUND, "needed_gib": 4})]), "expected needed_gib 3.5, got 4"),
        (Answer([Named("disk-full", {"needed_gib": 3.5})]), "expected path '/models/demo', got None"),
    ],
)
def test_wrong_answers_to_the_example(pack: Path, answer: Answer, message: str) -> None:
    assert wrong(pack, example=answer, near_miss=Answer()) == [("examples[0]", message)]


@pytest.mark.parametrize("part", ["diagnoses", "notices", "consequences"])
def test_a_near_miss_must_not_name_the_rule_anywhere(pack: Path, part: str) -> None:
    near_miss = Answer(**{part: [Named("other"), Named("disk-full")]})

    assert wrong(pack, example=Answer([Named("disk-full", FOUND)]), near_miss=near_miss) == [
        ("examples[1]", "expected any answer but disk-full, got disk-full")
    ]


def test_a_consequence_is_looked_for_among_the_consequences(write: Callable[..., Path]) -> None:
    pack = write("host/disk-full.yaml", ("rank: specific", "rank: consequence"))

    assert wrong(pack, example=Answer(consequences=[Named("disk-full")]), near_miss=Answer()) == []
    assert wrong(pack, example=Answer([Named("disk-full", FOUND)]), near_miss=Answer()) == [
        ("examples[0]", "expected disk-full among the consequences, got none")
    ]
