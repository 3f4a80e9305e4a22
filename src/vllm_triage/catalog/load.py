"""Rule files compiled to the catalog: parsed, checked, their literals derived."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vllm_triage.catalog.faults import checked
from vllm_triage.catalog.files import rule_files
from vllm_triage.catalog.literals import required_literals
from vllm_triage.catalog.problem import CatalogError, Problem
from vllm_triage.catalog.rule import Catalog, Rule
from vllm_triage.catalog.schema import RuleFile
from vllm_triage.catalog.serialize import rule_from_plain
from vllm_triage.catalog.source import Source, read_source

_MAX_WORDING = 200


@dataclass(frozen=True)
class RuleSource:
    """A rule, the file it is from and the pack that holds the file."""

    rule: Rule
    source: Source
    pack: Path


def compile_pack(pack: Path) -> Catalog:
    """The catalog of a folder of rule files, or of one file; its version is a digest of the contents.

    Raises:
        CatalogError: with every problem of every file, two rules of one id among them.
    """
    found, problems = read_pack(pack)
    problems += duplicates(found)
    if problems:
        raise CatalogError(problems)
    contents = hashlib.sha256()
    for one in found:
        contents.update(repr(one.rule).encode("utf-8"))
    return Catalog({one.rule.id: one.rule for one in found}, contents.hexdigest()[:12])


def read_pack(pack: Path) -> tuple[list[RuleSource], list[Problem]]:
    """The rules of a pack in the order of their files, and what is wrong with the files that have none.

    Raises:
        CatalogError: if the pack holds no rule files.
    """
    rules: list[RuleSource] = []
    problems: list[Problem] = []
    for file in rule_files(pack):
        try:
            source = read_source(file)
        except CatalogError as error:
            problems += error.problems
            continue
        data, faults = checked(source)
        problems += faults
        if data:
            name = file.name if file == pack else file.relative_to(pack).as_posix()
            rules.append(RuleSource(_rule(data, name), source, pack))
    return rules, problems


def duplicates(rules: Iterable[RuleSource]) -> list[Problem]:
    """A problem for each rule whose id one before it in the same pack has."""
    first: dict[tuple[Path, str], Source] = {}
    problems = []
    for one in rules:
        held = first.setdefault((one.pack, one.rule.id), one.source)
        if held is not one.source:
            message = f"expected an id of its own, got that of {held.file}"
            problems.append(one.source.problem(("id",), message, check="duplicate-id"))
    return problems


def _rule(data: RuleFile, path: str) -> Rule:
    plain: dict[str, Any] = {**data.model_dump(exclude_unset=True), "path": path}
    for signature in plain["signatures"]:
        if signature.get("pattern"):
            signature["literals"] = required_literals(signature["pattern"])
            signature["wordings"] = _wordings(signature["pattern"], plain.get("examples", ()))
    return rule_from_plain(plain)


def _wordings(pattern: str, examples: Iterable[dict[str, Any]]) -> tuple[str, ...]:
    """The clauses of the positive examples that a pattern matches, each once."""
    compiled = re.compile(pattern, re.IGNORECASE)
    lines = (line for one in examples if one.get("matches", True) for line in one["log"].split("\n"))
    found = (compiled.search(" ".join(line.split())) for line in lines)
    return tuple(dict.fromkeys(match[0][:_MAX_WORDING] for match in found if match))
