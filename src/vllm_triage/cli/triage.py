"""The default command: logs in, a report out."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from vllm_triage import __version__
from vllm_triage.cli.inputs import InputError, find_files
from vllm_triage.cli.live import (
    add_live_options,
    add_machine_options,
    echo_to,
    end_line,
    session_of,
    triager_of,
)
from vllm_triage.cli.output import Answer, add_output_options, write_all
from vllm_triage.cli.packs import add_rules_option
from vllm_triage.cli.status import USAGE

if TYPE_CHECKING:
    from vllm_triage.model import Origin
    from vllm_triage.pipeline import Source, Triager

_DESCRIPTION = """\
Name the root cause of a failed vLLM start, with the line that proves it and the command that helps.

  vllm serve MODEL 2>&1 | vllm-triage     pass the log through, report at the end
  vllm-triage run -- vllm serve MODEL     the same as a wrapper: keeps terminal, signals and exit status
  vllm-triage follow server.log           a log that is still being written
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
    add_output_options(made)
    made.add_argument("--debug", action="store_true", help="which signatures hit, and why each lost")
    made.add_argument(
        "--echo",
        action=argparse.BooleanOptionalAction,
        help="pass standard input through (default in a pipe with a text report)",
    )
    add_live_options(made)
    add_machine_options(made)
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


def _run_files(args: argparse.Namespace, files: Sequence[Path]) -> int:
    if args.output and Path(args.output).exists() and any(path.samefile(args.output) for path in files):
        raise InputError(f"{args.output}: an input of this run: choose another name for the report")
    triager = triager_of(args)
    groups = [[path] for path in files] if args.format == "jsonl" else [files]
    answers = (_answer(triager, group[0] if len(group) == 1 else group, args.debug) for group in groups)
    return write_all(args, answers, sys.stdout)


def _run_input(args: argparse.Namespace, is_pipe: bool) -> int:
    from vllm_triage.live.pipe import PATIENCE, pump
    from vllm_triage.live.signals import tail_is_read

    for_people = args.format == "text"
    echo = args.echo if args.echo is not None else is_pipe and for_people
    # The report goes where the echo does not.
    echo_file, report_file = (sys.stdout, sys.stderr) if for_people else (sys.stderr, sys.stdout)
    report_to = report_file if echo else sys.stdout
    source = sys.stdin.fileno()
    with tail_is_read() if is_pipe else nullcontext():
        with echo_to(echo_file if echo else None, args.tee) as sinks:
            session = (
                Whole()
                if args.debug
                else session_of(
                    args,
                    lambda: _whose(source) if is_pipe else (None, False),
                    report_to,
                    sinks,
                    speaks=is_pipe,
                )
            )
            ended_by = pump(source, sinks, session, PATIENCE if is_pipe else 1)
        if isinstance(session, Whole):
            answer = _answer(triager_of(args), session.log, debug=True)
        else:
            answer = Answer(session.close() if ended_by is None else session.provisional())
        end_line(report_to, sinks)
        status = write_all(args, [answer], report_to)
    return 128 + ended_by if ended_by else status


class Whole:
    """Takes a log and keeps all of it, for --debug, which needs more than a stream keeps."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, piece: bytes) -> None:
        self._pieces.append(piece)

    def tick(self) -> None:
        pass

    @property
    def log(self) -> bytes:
        return b"".join(self._pieces)


def _whose(source: int) -> tuple[Origin | None, bool]:
    """The process that writes into the pipe, if it is a vLLM; and whether it runs where we do."""
    from vllm_triage.live.writer import find_writer

    writer = find_writer(source)
    return (writer.origin, writer.here) if writer and writer.is_vllm else (None, False)


def _answer(triager: Triager, source: Source, debug: bool) -> Answer:
    if not debug:
        return Answer(triager.triage(source))
    from vllm_triage.report.build import build

    outcome, log = triager.outcome(source)
    return Answer(build(outcome, log, triager.catalog), outcome)


def _refuse(message: str) -> int:
    print(f"vllm-triage: {message}", file=sys.stderr)
    return USAGE


def _is_terminal(file: TextIO | None) -> bool:
    return file is None or file.isatty()


def _is_pipe(file: TextIO) -> bool:
    mode = os.fstat(file.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
