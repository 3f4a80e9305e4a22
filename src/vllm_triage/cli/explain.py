"""`explain ID`: what a rule means, how it looks in a log and what to do, without a log and without a network."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from typing import TYPE_CHECKING

from vllm_triage.cli.packs import add_rules_option, with_packs
from vllm_triage.cli.status import USAGE

if TYPE_CHECKING:
    from vllm_triage.catalog import Catalog, Rule
    from vllm_triage.catalog.rule import RemedySpec
    from vllm_triage.report.rows import Row

_EXAMPLE_LINES = 8
_READABLE = 100


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("explain", help="what a rule means and what to do")
    parser.add_argument("id", metavar="ID", help="the id of a rule, as a report shows it")
    add_rules_option(parser)


def run(args: argparse.Namespace) -> int:
    from vllm_triage.catalog import load_catalog
    from vllm_triage.report.terminal import draw, surface_of

    catalog = with_packs(load_catalog, args.rules)
    rule = catalog.rules.get(args.id)
    if rule is None:
        print(f"vllm-triage: {args.id}: no rule has this id{_suggestion(args.id, catalog)}", file=sys.stderr)
        return USAGE
    surface = surface_of(sys.stdout)
    draw(rows(rule, min(surface.columns, _READABLE), surface.bar), sys.stdout, surface)
    return 0


def rows(rule: Rule, width: int, bar: str) -> list[Row]:
    """The page of one rule."""
    from vllm_triage.report.rows import Row, prose, quoted
    from vllm_triage.report.words import RETRY

    made = [Row(rule.id, "headline"), *prose(rule.title, width, "title")]
    made += prose(
        f"{rule.family}, {rule.rank}, phase {rule.phase}, {rule.status} since {rule.since}", width, "faint"
    )
    if rule.summary:
        made += [Row(), *prose(_open_fields(rule.summary), width)]
    example = next((example.log for example in rule.examples if example.matches), "")
    if example:
        made += [Row(), Row("How it looks", "title")]
        for line in example.strip().splitlines()[:_EXAMPLE_LINES]:
            made += quoted(line, width, bar, most=3)
        releases = [f"{signature.id} {signature.vllm}" for signature in rule.signatures if signature.vllm]
        if releases:
            made += prose(f"Wordings of certain releases: {', '.join(releases)}", width, "faint")
    if rule.confirm:
        checks = ", ".join(confirm.check for confirm in rule.confirm)
        made += [Row(), Row("How to confirm it", "title")]
        made += prose(f"vllm-triage LOG --probe, on the host that failed, asks: {checks}", width)
    if rule.remedies:
        made += [Row(), Row("What to do", "title")]
        for number, remedy in enumerate(rule.remedies, 1):
            made += _remedy(number, remedy, width)
    if rule.rank != "consequence":
        made += [Row(), *prose(RETRY[rule.retry], width)]
    if rule.beats:
        made += prose(f"Related: {', '.join(rule.beats)}", width)
    return made + [Row(f"See {reference}", "faint") for reference in rule.references]


def _remedy(number: int, remedy: RemedySpec, width: int) -> list[Row]:
    from vllm_triage.report.model import Remedy
    from vllm_triage.report.rows import Row, prose
    from vllm_triage.report.words import actions

    shown = Remedy(
        title=_open_fields(remedy.title),
        risk=remedy.risk,
        command=_open_fields(" ".join(remedy.command)) or None,
        set_args={
            name: _open_fields(value) if isinstance(value, str) else value
            for name, value in remedy.set_args.items()
        },
        unset_args=remedy.unset_args,
        set_env={name: _open_fields(value) for name, value in remedy.set_env.items()},
        unset_env=remedy.unset_env,
    )
    made = prose(f"{shown.title} ({remedy.risk})", width, "good", lead=f"{number}. ")
    made += [Row(f"   {action}", "command") for action in actions(shown)]
    for step in remedy.steps:
        made += prose(_open_fields(step), width, indent="   ", lead="- ")
    made += prose(_open_fields(remedy.why or ""), width, "faint", indent="   ")
    if remedy.when:
        conditions = ", ".join(f"{name.replace('_', ' ')} {wanted}" for name, wanted in remedy.when.items())
        made += prose(f"Only with {conditions}.", width, "faint", indent="   ")
    return made


def _open_fields(template: str) -> str:
    """Field names in the place of their values: `{max_model_len}` becomes `<max_model_len>`."""
    return re.sub(r"\{(\w+)(?::[^{}]*)?\}", r"<\1>", " ".join(template.split()))


def _suggestion(wanted: str, catalog: Catalog) -> str:
    near = difflib.get_close_matches(wanted, catalog.rules, n=3, cutoff=0.5)
    return f": did you mean {', '.join(near)}?" if near else ": `vllm-triage rules list` shows all"
