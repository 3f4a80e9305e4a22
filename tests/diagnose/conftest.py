"""How the tests of this package judge a text: a small catalog instead of the built-in one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from textwrap import dedent

import pytest

from vllm_triage.catalog.rule import Catalog, Rank, Rule, Signature
from vllm_triage.diagnose import diagnose
from vllm_triage.log import parse
from vllm_triage.match import Matcher
from vllm_triage.model import Outcome


def make_rule(
    id_: str, pattern: str, rank: Rank = "specific", beats: Sequence[str] = (), **signature: object
) -> Rule:
    """A rule of one signature whose pattern is a plain wording."""
    return Rule(
        id=id_,
        family="test",
        title=id_,
        rank=rank,
        phase="any",
        retry="change",
        status="stable",
        since="0.1.0",
        beats=tuple(beats),
        signatures=(Signature(id="v1", pattern=pattern, literals=(pattern,), **signature),),  # type: ignore[arg-type]
    )


RULES = (
    make_rule("no-room", "no room left"),
    make_rule("no-weights", "no weights found"),
    make_rule("refused", "request refused"),
    make_rule("gated", "gated repository", beats=["refused"]),
    make_rule("some-memory", "memory trouble", rank="fallback"),
    make_rule("worker-died", "died unexpectedly", rank="fallback"),
    make_rule("wrapper", "See root cause above", rank="consequence"),
    make_rule("broken-pipe", "Broken pipe", rank="consequence"),
    make_rule("shutdown-noise", "nanobind: leaked", rank="consequence"),
    make_rule("stopped-from-outside", "KeyboardInterrupt"),
    make_rule("suggested", "bus trouble", hint=True),
    make_rule("stall", "nothing moves", rank="fallback", on=("info",)),
    make_rule("hint", "this will not work later", on=("warning",)),
)


@pytest.fixture(scope="session")
def judge() -> Callable[[str], Outcome]:
    matcher = Matcher(Catalog({rule.id: rule for rule in RULES}, "test"))

    def judge_text(text: str) -> Outcome:
        lines = list(enumerate(dedent(text).strip("\n").split("\n"), start=1))
        log = parse([lines], len(lines))
        return diagnose(log, matcher.hits(log), matcher.nearest)

    return judge_text
