"""Where a report goes and in which form; the same for every command that makes one."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING, TextIO

from vllm_triage.cli.status import NO_FAILURE, status_of

if TYPE_CHECKING:
    from vllm_triage.model import Hit, Outcome
    from vllm_triage.report import Report

FORMATS = ("text", "json", "jsonl", "markdown", "github")


@dataclass(frozen=True)
class Answer:
    """A report, and what --debug wants to know about it."""

    report: Report
    outcome: Outcome | None = None


def add_output_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="text",
        help="jsonl gives one report a file, markdown what can be shared, github annotations of a workflow",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write the report there")
    parser.add_argument("-q", "--quiet", action="store_true", help="one line")
    parser.add_argument("-v", "--verbose", action="store_true", help="everything that is known")


def write_all(args: argparse.Namespace, answers: Iterable[Answer], standard: TextIO) -> int:
    """Write each answer to `--output` or `standard` and return the exit status."""
    status = NO_FAILURE
    with open(args.output, "w", encoding="utf-8") if args.output else nullcontext(standard) as file:
        for answer in answers:
            write(args, answer.report, file)
            if answer.outcome is not None:
                _write_debug(answer.outcome)
            status = max(status, status_of(answer.report))
    return status


def write(args: argparse.Namespace, report: Report, file: TextIO) -> None:
    if args.format != "text":
        if isinstance(file, TextIOWrapper):
            file.reconfigure(encoding="utf-8")  # whatever the locale says
        file.write(import_module(f"vllm_triage.report.{args.format}").render(report))
        file.flush()
        if args.format == "github":
            _append_summary(report)
    elif args.quiet:
        from vllm_triage.report import oneline
        from vllm_triage.report.terminal import write_plain

        write_plain(oneline.render(report), file)
    else:
        from vllm_triage.report import text

        text.write(report, file, args.verbose)


def _append_summary(report: Report) -> None:
    """The job's summary, where a workflow runs."""
    from vllm_triage.report import markdown

    if path := os.environ.get("GITHUB_STEP_SUMMARY"):
        with open(path, "a", encoding="utf-8") as file:
            file.write(markdown.render(report))


def _write_debug(outcome: Outcome) -> None:
    from vllm_triage.redact import redact

    for finding in (*outcome.findings, *outcome.notices):
        for hit in finding.evidence:
            print(f"debug: {_hit(hit)}: kept, confidence {finding.confidence:.2f}", file=sys.stderr)
    for loss in outcome.losses:
        print(f"debug: {_hit(loss.hit)}: lost: {redact(loss.reason)}", file=sys.stderr)


def _hit(hit: Hit) -> str:
    return f"line {hit.line.number}: {hit.rule.id}/{hit.signature.id}"
