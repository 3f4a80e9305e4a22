"""Which of several hits answers."""

from __future__ import annotations

from vllm_triage.catalog.rule import Rule, Signature
from vllm_triage.diagnose.candidates import Candidate
from vllm_triage.diagnose.rank import findings
from vllm_triage.model import Hit, Line


def rule(id_: str, beats: tuple[str, ...] = ()) -> Rule:
    signature = Signature(id="v1", pattern=id_)
    return Rule(id_, "test", id_, "specific", "any", "change", "stable", "0.1.0", (signature,), beats=beats)


REFUSED = rule("refused")
GATED = rule("gated", beats=("refused",))


def order(*hits: tuple[Rule, float]) -> list[str]:
    """The rules of a line's hits, given with their similarity, as they are ranked."""
    line = Line(0, 1, "OSError: request refused: a gated repository", kind="exception")
    made = tuple(Hit(rule, rule.signatures[0], line, similarity=alike) for rule, alike in hits)
    ranked, _ = findings([Candidate(line, None, 0.0, (hit,)) for hit in made])
    return [finding.rule.id for finding in ranked]


def test_a_rule_wins_over_one_that_it_beats() -> None:
    assert order((REFUSED, 1.0), (GATED, 1.0)) == ["gated", "refused"]


def test_words_that_are_merely_alike_win_over_nothing_known() -> None:
    assert order((REFUSED, 1.0), (GATED, 0.8)) == ["refused", "gated"]
    assert order((REFUSED, 0.8), (GATED, 0.8)) == ["gated", "refused"]
