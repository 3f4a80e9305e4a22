"""What a rule lacks beyond its format: each check is one small function over one rule."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from vllm_triage.catalog.hazards import hazards
from vllm_triage.catalog.load import RuleSource, duplicates
from vllm_triage.catalog.problem import Problem
from vllm_triage.catalog.rule import RemedySpec
from vllm_triage.catalog.source import KeyPath
from vllm_triage.catalog.templates import names

# Names that every template may use, beside the rule's own fields and derived values.
CONTEXT_NAMES = frozenset({"model", "vllm_version", "port", "host", "process", "pid"})


@dataclass(frozen=True)
class Surroundings:
    """What the later stages know, and the rules around the ones to be linted.

    `lines` gives the lines of a log as patterns see them.
    """

    rule_ids: Collection[str]
    functions: Collection[str]
    checks: Collection[str]
    lines: Callable[[str], Iterable[str]]


def lint(rules: Sequence[RuleSource], around: Surroundings) -> list[Problem]:
    """Everything that the rules lack, in the order of files and lines."""
    found = duplicates(rules)
    for one in rules:
        for check in _CHECKS:
            found += check(one, around)
    return sorted(found)


def _file_name(one: RuleSource, around: Surroundings) -> Iterator[Problem]:
    file, rule = one.source.file, one.rule
    if file.stem != rule.id:
        message = f"expected the file's stem {file.stem}, got {rule.id}"
        yield one.source.problem(("id",), message, check="file-name")
    # A pack may lie flat; in a folder below it, the folder is the family.
    if file not in {one.pack, one.pack / file.name} and file.parent.name != rule.family:
        message = f"expected the folder's name {file.parent.name}, got {rule.family}"
        yield one.source.problem(("family",), message, check="file-name")


def _examples(one: RuleSource, around: Surroundings) -> Iterator[Problem]:
    positive = any(example.matches for example in one.rule.examples)
    near_miss = any(not example.matches for example in one.rule.examples)
    if not positive:
        message = "expected a log that must give this rule, got none"
        yield one.source.problem(("examples",), message, check="no-example")
    if not near_miss and one.rule.rank != "consequence":
        message = "expected a log with `matches: false` that must not give this rule, got none"
        yield one.source.problem(("examples",), message, check="no-near-miss")
    if one.rule.status == "stable" and not (positive and near_miss):
        message = "expected experimental until there are an example and a near miss, got stable"
        yield one.source.problem(("status",), message, check="not-stable")


def _references(one: RuleSource, around: Surroundings) -> Iterator[Problem]:
    if not one.rule.references:
        message = "expected an address of documentation, source or an issue, got none"
        yield one.source.problem(("references",), message, check="no-reference")


def _signature_ids(one: RuleSource, around: Surroundings) -> Iterator[Problem]:
    seen: set[str] = set()
    for at, signature in enumerate(one.rule.signatures):
        if signature.id in seen:
            message = f"expected an id of its own within the rule, got {signature.id} again"
            yield one.source.problem(("signatures", at, "id"), message, check="duplicate-signature")
        seen.add(signature.id)


def _patterns(one: RuleSource, around: Surroundings) -> Iterator[Problem]:
    lines = [line for example in one.rule.examples if example.matches for line in around.lines(example.log)]
    for at, signature in enumerate(one.rule.signatures):
        if signature.pattern is None:
            continue
        path: KeyPath = ("signatures", at, "pattern")
        for check, message in hazards(signature.pattern):
            yield one.source.problem(path, message, check=check)
        pattern = re.compile(signature.pattern, re.IGNORECASE)
        if not any(pattern.search(line) for line in lines):
            message = "expected an example with a line that it matches, got none"
            yield one.source.problem(path, message, check="no-own-example")


def _fields(one: RuleSource, around: Surroundings) -> Iterator[Problem]:
    groups: set[str] = set()
    for at, signature in enumerate(one.rule.signatures):
        own = set(re.compile(signature.pattern or "").groupindex)
        groups |= own
        for name in sorted(own - one.rule.fields.keys()):
            message = f"expected the group {name} among the fields, got no such field"
            yield one.source.problem(("signatures", at, "pattern"), message, check="group-without-field")
    for name in sorted(one.rule.fields.keys() - groups):
        message = "expected a pattern with a group of this name, got none"
        yield one.source.problem(("fields", name), message, at_key=True, check="field-without-group")


def _templates(one: RuleSource, around: Surroundings) -> Iterator[Problem]:
    known = one.rule.fields.keys() | one.rule.derive.keys() | CONTEXT_NAMES
    for path, text in _texts(one):
        for name in sorted(names(text) - known):
            message = (
                f"expected a field, a derived value or one of {', '.join(sorted(CONTEXT_NAMES))}, got {name}"
            )
            yield one.source.problem(path, message, check="unknown-name")


def _texts(one: RuleSource) -> Iterator[tuple[KeyPath, str]]:
    """Every template of a rule and where it stands."""
    if one.rule.summary:
        yield ("summary",), one.rule.summary
    for at, remedy in enumerate(one.rule.remedies):
        here: KeyPath = ("remedies", at)
        yield (*here, "title"), remedy.title
        yield (*here, "why"), remedy.why or ""
        for key, items in (("command", remedy.command), ("steps", remedy.steps)):
            yield from (((*here, key, index), text) for index, text in enumerate(items))
        for key, values in (("set_args", remedy.set_args), ("set_env", remedy.set_env)):
            yield from (((*here, key, name), text) for name, text in values.items() if isinstance(text, str))


def _names(one: RuleSource, around: Surroundings) -> Iterator[Problem]:
    for name, function in one.rule.derive.items():
        if function not in around.functions:
            message = f"expected one of {', '.join(sorted(around.functions))}, got {function}"
            yield one.source.problem(("derive", name), message, check="unknown-function")
    for at, confirm in enumerate(one.rule.confirm):
        if confirm.check not in around.checks:
            known = ", ".join(sorted(around.checks)) or "no check (there are none yet)"
            message = f"expected {known}, got {confirm.check}"
            yield one.source.problem(("confirm", at, "check"), message, check="unknown-check")
    for at, beaten in enumerate(one.rule.beats):
        if beaten not in around.rule_ids or beaten == one.rule.id:
            message = f"expected the id of another rule, got {beaten}"
            yield one.source.problem(("beats", at), message, check="unknown-rule")


def _remedies(one: RuleSource, around: Surroundings) -> Iterator[Problem]:
    risks = [remedy.risk for remedy in one.rule.remedies]
    if risks[:1] == ["destructive"] and "safe" in risks:
        message = "expected a safe remedy first, got a destructive one"
        yield one.source.problem(("remedies", 0, "risk"), message, check="destructive-first")
    for at, remedy in enumerate(one.rule.remedies):
        if not _does_something(remedy):
            message = "expected steps, a command, or options or variables to set, got a title alone"
            yield one.source.problem(("remedies", at), message, check="idle-remedy")
        for index, _ in enumerate(remedy.command):
            if ("remedies", at, "command", index) in one.source.split:
                message = "expected a part of its own or quotes around the whole, got one cut at a comma"
                yield one.source.problem(("remedies", at, "command", index), message, check="cut-at-comma")


def _does_something(remedy: RemedySpec) -> bool:
    return any(
        (remedy.command, remedy.steps, remedy.set_args, remedy.unset_args, remedy.set_env, remedy.unset_env)
    )


_CHECKS: tuple[Callable[[RuleSource, Surroundings], Iterator[Problem]], ...] = (
    _file_name,
    _examples,
    _references,
    _signature_ids,
    _patterns,
    _fields,
    _templates,
    _names,
    _remedies,
)
