"""`doctor`: what holds the GPUs, which vLLM would start, what is wrong here; without a log."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from vllm_triage.cli.collect import add_facts_options
from vllm_triage.cli.status import NO_FAILURE, SOMETHING_WRONG

if TYPE_CHECKING:
    from vllm_triage.probes.doctor import Line
    from vllm_triage.report.rows import Row, Style

_READABLE = 120


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "doctor", help="look at this host before a start; status 1 if something is wrong"
    )
    add_facts_options(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    from vllm_triage.probes.collect import collect
    from vllm_triage.probes.doctor import examine
    from vllm_triage.probes.subject import of_command

    lines = examine(collect(of_command(args.model, program=args.python), online=args.online))
    if args.format == "json":
        _write_json(lines)
    else:
        from vllm_triage.report.terminal import draw, surface_of

        surface = surface_of(sys.stdout)
        draw(_rows(lines, min(surface.columns, _READABLE)), sys.stdout, surface)
    return SOMETHING_WRONG if any(line.state == "wrong" for line in lines) else NO_FAILURE


def _rows(lines: list[Line], width: int) -> list[Row]:
    from vllm_triage.redact import redact
    from vllm_triage.report.rows import prose

    styles: dict[str, Style] = {"wrong": "headline", "look": "title", "fine": "good", "unknown": "faint"}
    area = max((len(line.area) for line in lines), default=0)
    return [
        row
        for line in lines
        for row in prose(
            redact(line.text), width, styles[line.state], lead=f"{line.state:<7}  {line.area:<{area}}  "
        )
    ]


def _write_json(lines: list[Line]) -> None:
    import json
    from dataclasses import asdict

    from vllm_triage.redact import redact_data

    sys.stdout.write(json.dumps(redact_data([asdict(line) for line in lines]), indent=2) + "\n")
