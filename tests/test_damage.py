"""Wordings drift: most damaged examples of the catalog still find their rule, and few find another."""

from __future__ import annotations

import random
import re
from collections import Counter

import pytest

from vllm_triage import Triager

# What is true of the catalog today, less a margin; raise it as rules gain phrases.
RIGHT, WRONG = 0.85, 0.05
PER_KIND = 250


def change(words: list[str], at: int) -> list[str]:
    return [*words[:at], "value", *words[at + 1 :]]


def insert(words: list[str], at: int) -> list[str]:
    return [*words[:at], "currently", *words[at:]]


def drop(words: list[str], at: int) -> list[str]:
    return [*words[:at], *words[at + 1 :]]


def damaged(clause: str, kind: str, rnd: random.Random) -> str | None:
    if kind == "quotes":
        return clause.translate(str.maketrans("'\"`", "\"''"))
    if kind == "capitals":
        return clause.swapcase()
    words = clause.split(" ")
    places = [at for at, word in enumerate(words) if re.fullmatch(r"[a-z]{3,}", word)]
    if len(places) < 3:
        return None
    return " ".join({"change": change, "insert": insert, "drop": drop}[kind](words, rnd.choice(places)))


@pytest.fixture(scope="module")
def answers() -> Counter[str]:
    """How many damaged examples are answered right, wrong, or not at all."""
    triager, rnd = Triager(), random.Random(7)
    clauses = []
    for rule in triager.catalog.rules.values():
        if rule.rank == "consequence":
            continue
        patterns = [re.compile(s.pattern, re.IGNORECASE) for s in rule.signatures if s.pattern]
        for example in (example for example in rule.examples if example.matches):
            found = (match for pattern in patterns for match in [pattern.search(example.log)] if match)
            if match := next(found, None):
                clauses.append((rule.id, example.log, match))
    counts: Counter[str] = Counter()
    for kind in ("change", "insert", "drop", "quotes", "capitals"):
        for id_, log, match in rnd.sample(clauses, PER_KIND):
            clause = damaged(match[0], kind, rnd)
            if clause is None or clause == match[0] or "\n" in match[0]:
                continue
            report = triager.triage(log[: match.start()] + clause + log[match.end() :])
            named = report.diagnoses[0].rule if report.diagnoses else None
            counts["right" if named == id_ else "wrong" if named else "none"] += 1
    return counts


def test_most_still_find_their_rule(answers: Counter[str]) -> None:
    assert answers["right"] / sum(answers.values()) >= RIGHT


def test_few_find_another(answers: Counter[str]) -> None:
    assert answers["wrong"] / sum(answers.values()) <= WRONG
