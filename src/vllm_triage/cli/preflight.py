"""`preflight -- vllm serve ...`: would this start fail on this host, why, and what to change?"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from vllm_triage.cli.status import NO_FAILURE, SOMETHING_WRONG, USAGE

if TYPE_CHECKING:
    from vllm_triage.catalog import Catalog
    from vllm_triage.probes.command import Command
    from vllm_triage.probes.preflight import Forecast
    from vllm_triage.report.model import Remedy
    from vllm_triage.report.rows import Row

_READABLE = 120


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "preflight", help="would this command fail here? preflight -- vllm serve MODEL ..."
    )
    parser.add_argument("--online", action="store_true", help="ask the model hub about the repo, too")
    parser.add_argument(
        "--facts", metavar="FILE", help="ask the host that `collect` wrote FILE on, not this one"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="vllm serve MODEL ...")


def run(args: argparse.Namespace) -> int:
    from vllm_triage.catalog import load_catalog
    from vllm_triage.cli.facts import facts_of_file
    from vllm_triage.probes.collect import collect
    from vllm_triage.probes.command import CommandError, read_command
    from vllm_triage.probes.preflight import forecast
    from vllm_triage.probes.subject import of_command

    words = args.words[1:] if args.words[:1] == ["--"] else args.words
    try:
        command = read_command(words)
    except CommandError as error:
        print(f"vllm-triage: preflight: {error}", file=sys.stderr)
        return USAGE
    port = command.whole("port", 8000)
    facts = (
        facts_of_file(args.facts)
        if args.facts
        else collect(of_command(command.model, port, command.program), online=args.online)
    )
    found = forecast(command, facts)
    catalog = load_catalog([])
    if args.format == "json":
        _write_json(found, command, catalog)
    else:
        from vllm_triage.report.terminal import draw, surface_of

        surface = surface_of(sys.stdout)
        draw(_rows(found, command, catalog, min(surface.columns, _READABLE)), sys.stdout, surface)
    return SOMETHING_WRONG if any(fault.certain for fault in found) else NO_FAILURE


def _rows(found: list[Forecast], command: Command, catalog: Catalog, width: int) -> list[Row]:
    from vllm_triage.redact import redact
    from vllm_triage.report.rows import Row, prose
    from vllm_triage.report.words import actions

    if not found:
        return prose("Nothing that could be looked at speaks against this start.", width, "good")
    rows: list[Row] = []
    for fault in found:
        sure = "would fail" if fault.certain else "may fail (an estimate)"
        rows.append(Row(f"{sure}: {fault.rule}", "headline"))
        rows += prose(f"{catalog.rules[fault.rule].title}: {redact(fault.detail)}", width, indent="  ")
        for remedy in _remedies(fault, command, catalog)[:1]:
            rows += prose(remedy.title, width, "good", indent="  ", lead="What to do: ")
            rows += [Row(f"      {action}", "command") for action in actions(remedy)]
            rows += [row for step in remedy.steps[:2] for row in prose(step, width, indent="    ", lead="- ")]
    return [*rows, Row("More: vllm-triage explain ID", "faint")]


def _remedies(fault: Forecast, command: Command, catalog: Catalog) -> tuple[Remedy, ...]:
    from vllm_triage.model import Context
    from vllm_triage.remedy import fill_remedies

    args: dict[str, Any] = {name.replace("-", "_"): value for name, value in command.options.items()}
    values = {**({"model": command.model} if command.model else {}), **fault.values}
    return fill_remedies(catalog.rules[fault.rule], values, Context(model=command.model, args=args))


def _write_json(found: list[Forecast], command: Command, catalog: Catalog) -> None:
    import json

    from vllm_triage.redact import redact_data

    faults = [
        {
            "rule": fault.rule,
            "title": catalog.rules[fault.rule].title,
            "detail": fault.detail,
            "certain": fault.certain,
            "remedies": [remedy.model_dump() for remedy in _remedies(fault, command, catalog)],
        }
        for fault in found
    ]
    sys.stdout.write(json.dumps(redact_data(faults), indent=2) + "\n")
