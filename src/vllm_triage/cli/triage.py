"""The default command: logs in, a report out."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from vllm_triage import __version__
from vllm_triage.cli.inputs import InputError, find_files
from vllm_triage.cli.packs import add_rules_option, with_packs
from vllm_triage.cli.status import NO_FAILURE, USAGE, status_of

if TYPE_CHECKING:
    from vllm_triage.model import Hit, Outcome
    from vllm_triage.pipeline import Source, Stream, Triager
    from vllm_triage.report import Report

FORMATS = ("text", "json", "jsonl")

_DESCRIPTION = """\
Name the root cause of a failed vLLM start, with the line that proves it and the command that helps.

  vllm serve MODEL 2>&1 | vllm-triage     pass the log through, report at the end
  vllm-triage crash.log                   a file, several files of one failure, a folder, a .gz, or - for standard input
  vllm-triage doctor | preflight -- vllm serve MODEL ...   this host, before a start
  vllm-triage explain ID                  what a rule means and what to do
  vllm-triage rules list|test|lint|new    the catalog of rules"""
_EPILOG = """\
exit status: 0 healthy or inconclusive, 1 failed and a cause named, 3 failed and no cause named,
2 usage or unreadable input, 4 an error of ours"""


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="vllm-triage",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="log or folder; - for standard input; ./run for a file named like a command",
    )
    made.add_argument("--format", choices=FORMATS, default="text", help="jsonl gives one report a file")
    made.add_argument("-o", "--output", metavar="FILE", help="write the report there")
    made.add_argument("-q", "--quiet", action="store_true", help="one line")
    made.add_argument("-v", "--verbose", action="store_true", help="everything that is known")
    made.add_argument("--debug", action="store_true", help="which signatures hit, and why each lost")
    made.add_argument(
        "--echo",
        action=argparse.BooleanOptionalAction,
        help="pass standard input through (default in a pipe with a text report)",
    )
    made.add_argument(
        "--probe",
        action=argparse.BooleanOptionalAction,
        help="ask this machine to confirm or refute (the log must be from here)",
    )
    made.add_argument(
        "--facts",
        metavar="FILE",
        help="ask what `vllm-triage collect` (or vLLM's collect-env) wrote on the host that failed",
    )
    add_rules_option(made)
    made.add_argument("--version", action="version", version=f"vllm-triage {__version__}")
    return made


def run(args: argparse.Namespace) -> int:
    """Triage what the arguments name and return the exit status."""
    if not args.files and _is_terminal(sys.stdin):
        parser().print_help(sys.stderr)
        return USAGE
    try:
        if args.files and args.files != ["-"]:
            files = find_files(args.files)
            return _run_files(args, files)
        return _run_input(args, is_pipe=not args.files and _is_pipe(sys.stdin))
    except InputError as error:
        return _refuse(str(error))
    except BrokenPipeError:
        raise
    except OSError as error:
        return _refuse(f"{error.filename or 'input'}: {error.strerror or error}: check the path")


@dataclass(frozen=True)
class Answer:
    """A report, and what --debug wants to know about it."""

    report: Report
    outcome: Outcome | None = None


def _run_files(args: argparse.Namespace, files: Sequence[Path]) -> int:
    if args.output and Path(args.output).exists() and any(path.samefile(args.output) for path in files):
        raise InputError(f"{args.output}: an input of this run: choose another name for the report")
    triager = _triager(args)
    groups = [[path] for path in files] if args.format == "jsonl" else [files]
    answers = (_answer(triager, group[0] if len(group) == 1 else group, args.debug) for group in groups)
    return _report(args, answers, sys.stdout)


def _run_input(args: argparse.Namespace, is_pipe: bool) -> int:
    from vllm_triage.live.pipe import interrupts_ignored, pump

    for_people = args.format == "text"
    echo = args.echo if args.echo is not None else is_pipe and for_people
    # The report goes where the echo does not.
    echo_to, report_to = (sys.stdout, sys.stderr) if for_people else (sys.stderr, sys.stdout)
    reading = _Reading(args)
    with interrupts_ignored() if is_pipe else nullcontext():
        pump(sys.stdin.fileno(), echo_to.fileno() if echo else None, reading.feed)
        return _report(args, [reading.answer()], report_to if echo else sys.stdout)


class _Reading:
    """Standard input on its way to an answer; loads the tool with the first piece, after its echo."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._args = args
        self._pieces: list[bytes] = []  # for --debug, which needs more than a stream keeps

    @cached_property
    def _triager(self) -> Triager:
        return _triager(self._args)

    @cached_property
    def _stream(self) -> Stream:
        return self._triager.stream()

    def feed(self, piece: bytes) -> None:
        if self._args.debug:
            self._pieces.append(piece)
        else:
            self._stream.feed(piece)

    def answer(self) -> Answer:
        if self._args.debug:
            return _answer(self._triager, b"".join(self._pieces), debug=True)
        return Answer(self._stream.close())


def _triager(args: argparse.Namespace) -> Triager:
    from vllm_triage.cli.facts import facts_of_file
    from vllm_triage.pipeline import Triager

    facts = facts_of_file(args.facts) if args.facts else None
    return with_packs(partial(Triager, probes=bool(args.probe), facts=facts), args.rules)


def _answer(triager: Triager, source: Source, debug: bool) -> Answer:
    if not debug:
        return Answer(triager.triage(source))
    from vllm_triage.report.build import build

    outcome, log = triager.outcome(source)
    return Answer(build(outcome, log, triager.catalog), outcome)


def _report(args: argparse.Namespace, answers: Iterable[Answer], standard: TextIO) -> int:
    status = NO_FAILURE
    with open(args.output, "w", encoding="utf-8") if args.output else nullcontext(standard) as file:
        for answer in answers:
            _write(args, answer.report, file)
            if answer.outcome is not None:
                _write_debug(answer.outcome)
            status = max(status, status_of(answer.report))
    return status


def _write(args: argparse.Namespace, report: Report, file: TextIO) -> None:
    if args.format != "text":
        from vllm_triage.report import json

        if isinstance(file, TextIOWrapper):
            file.reconfigure(encoding="utf-8")  # whatever the locale says
        file.write(json.render(report))
        file.flush()
    elif args.quiet:
        from vllm_triage.report import oneline
        from vllm_triage.report.terminal import write_plain

        write_plain(oneline.render(report), file)
    else:
        from vllm_triage.report import text

        text.write(report, file, args.verbose)


def _write_debug(outcome: Outcome) -> None:
    from vllm_triage.redact import redact

    for finding in (*outcome.findings, *outcome.notices):
        for hit in finding.evidence:
            print(f"debug: {_hit(hit)}: kept, confidence {finding.confidence:.2f}", file=sys.stderr)
    for loss in outcome.losses:
        print(f"debug: {_hit(loss.hit)}: lost: {redact(loss.reason)}", file=sys.stderr)


def _hit(hit: Hit) -> str:
    return f"line {hit.line.number}: {hit.rule.id}/{hit.signature.id}"


def _refuse(message: str) -> int:
    print(f"vllm-triage: {message}", file=sys.stderr)
    return USAGE


def _is_terminal(file: TextIO | None) -> bool:
    return file is None or file.isatty()


def _is_pipe(file: TextIO) -> bool:
    mode = os.fstat(file.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
