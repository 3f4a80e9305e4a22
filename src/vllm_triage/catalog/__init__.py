"""The catalog of rules: YAML files compiled to frozen data, the built-in ones and the user's."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from vllm_triage.catalog.problem import CatalogError, Problem
from vllm_triage.catalog.rule import Catalog, Rule, Signature

__all__ = [
    "Catalog",
    "CatalogError",
    "Problem",
    "Rule",
    "Signature",
    "builtin_catalog",
    "load_catalog",
]


@lru_cache(maxsize=1)
def builtin_catalog() -> Catalog:
    """The rules that come with the tool.

    Raises:
        CatalogError: if the installation lacks them, or a checkout's rules are broken.
    """
    from vllm_triage.catalog.locate import COMPILED, builtin_rules

    folder = builtin_rules()
    compiled = folder / COMPILED
    if compiled.is_file():
        from vllm_triage.catalog.serialize import from_json

        return from_json(compiled.read_text(encoding="utf-8"))
    from vllm_triage.catalog.cache import compiled_catalog

    return compiled_catalog(folder)


def load_catalog(folders: Sequence[Path] = ()) -> Catalog:
    """The built-in rules and the user's.

    Args:
        folders: packs of rules, each a folder or a single file. A rule with the id of an earlier
            one takes its place; `replaced` lists the built-in ids that lost theirs.

    Raises:
        CatalogError: with every problem of every pack.
    """
    builtin = builtin_catalog()
    if not folders:
        return builtin
    from vllm_triage.catalog.cache import compiled_catalog

    packs: list[Catalog] = []
    problems: list[Problem] = []
    for folder in folders:
        try:
            packs.append(compiled_catalog(folder))
        except CatalogError as error:
            problems += error.problems
    if problems:
        raise CatalogError(problems)
    users = {rule.id: rule for pack in packs for rule in pack.rules.values()}
    return builtin._replace(
        rules={**builtin.rules, **users},
        version="+".join([builtin.version, *(pack.version for pack in packs)]),
        replaced=tuple(sorted(users.keys() & builtin.rules.keys())),
    )
