"""Writes the table of all rules: `python docs/rules_table.py > docs/rules.md`."""

from __future__ import annotations

from itertools import groupby

from vllm_triage.catalog import builtin_catalog
from vllm_triage.catalog.rule import Rule

HEAD = """# Rules

Made from the catalog by `make docs`. `vllm-triage explain ID` shows how a failure looks and what to do.
"""


def table(rules: list[Rule]) -> str:
    rows = ["| id | what it names | phase | starting again |", "|---|---|---|---|"]
    for rule in rules:
        again = {"change": "needs a change", "retry": "may help", "hardware": "needs another machine"}[
            rule.retry
        ]
        rows.append(
            f"| [{rule.id}](rules/{rule.id}.md) | {rule.title.replace('|', '/')} | {rule.phase} | {again} |"
        )
    return "\n".join(rows)


def document() -> str:
    """The whole page, one table a family; follow-up texts are no causes and come last."""
    rules = sorted(
        builtin_catalog().rules.values(), key=lambda rule: (rule.rank == "consequence", rule.family, rule.id)
    )
    parts = [
        f"## {family}\n\n{table(list(group))}" for family, group in groupby(rules, lambda rule: rule.family)
    ]
    return "\n\n".join([HEAD.rstrip(), *parts]) + "\n"


if __name__ == "__main__":
    print(document(), end="")
