"""A rule's own examples, run through the whole tool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from vllm_triage.catalog.load import RuleSource
from vllm_triage.catalog.problem import Problem
from vllm_triage.catalog.rule import Example, Rule


class Named(Protocol):
    """A diagnosis, notice or consequence."""

    @property
    def rule(self) -> str: ...


class Diagnosed(Named, Protocol):
    """A diagnosis."""

    @property
    def fields(self) -> Mapping[str, Any]: ...


class Answer(Protocol):
    """What the examples look at in a report."""

    @property
    def verdict(self) -> str: ...
    @property
    def diagnoses(self) -> Sequence[Diagnosed]: ...
    @property
    def notices(self) -> Sequence[Named]: ...
    @property
    def consequences(self) -> Sequence[Named]: ...


def failing_examples(rules: Iterable[RuleSource], triage: Callable[[str], Answer]) -> Iterator[Problem]:
    """A problem for each example that does not give what it says.

    Args:
        rules: The rules, which are part of the catalog that `triage` uses.
        triage: From a log to a report.
    """
    for one in rules:
        for at, example in enumerate(one.rule.examples):
            wrong = _wrong(one.rule, example, triage(example.log))
            if wrong:
                yield one.source.problem(("examples", at), wrong, check="example")


def _wrong(rule: Rule, example: Example, answer: Answer) -> str:
    """What is wrong with the answer to an example; empty if it is right."""
    if not example.matches:
        named = [one.rule for one in (*answer.diagnoses, *answer.notices, *answer.consequences)]
        return f"expected any answer but {rule.id}, got {rule.id}" if rule.id in named else ""
    if rule.rank == "consequence":
        named = [one.rule for one in answer.consequences]
        return "" if rule.id in named else f"expected {rule.id} among the consequences, got {_listed(named)}"
    named = [one.rule for one in answer.diagnoses]
    if named[:1] != [rule.id]:
        return f"expected {rule.id} first, got {_listed(named)} (verdict {answer.verdict})"
    fields = answer.diagnoses[0].fields
    wrong = [
        f"expected {name} {value!r}, got {fields.get(name)!r}"
        for name, value in example.fields.items()
        if fields.get(name) != value
    ]
    return "; ".join(wrong)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
