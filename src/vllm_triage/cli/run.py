"""`run -- COMMAND`: starts a server, passes everything through, and explains its failure."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from vllm_triage.cli import our_error
from vllm_triage.cli.inputs import InputError
from vllm_triage.cli.live import add_live_options, add_machine_options, echo_to, end_line, session_of
from vllm_triage.cli.output import Answer, add_output_options, write_all
from vllm_triage.cli.packs import add_rules_option
from vllm_triage.cli.status import CANNOT_RUN, USAGE

if TYPE_CHECKING:
    from vllm_triage.model import Origin
    from vllm_triage.report import Report

_TERMINATION_LOG = "/dev/termination-log"
# sysexits.h: EX_TEMPFAIL, EX_CONFIG, EX_UNAVAILABLE.
_DEFAULT_MAP = "retry=75,change=78,hardware=69"
_VERDICTS = ("retry", "change", "hardware", "unknown")


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "run",
        help="start a server, keep its output, signals and exit status, explain its failure: run -- vllm serve ...",
    )
    add_output_options(parser)
    add_live_options(parser)
    add_machine_options(parser)
    add_rules_option(parser)
    parser.add_argument(
        "--exit-code-map",
        metavar="MAP",
        nargs="?",
        const=_DEFAULT_MAP,
        type=_map,
        help=f"end with a status by what would help, also if the server ended with 0 (without MAP: {_DEFAULT_MAP})",
    )
    parser.add_argument(
        "--termination-log",
        metavar="PATH",
        help=f"write one small JSON event there on a failure (default: {_TERMINATION_LOG}, where that exists)",
    )
    parser.add_argument(
        "words", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="the server's command line"
    )


def run(args: argparse.Namespace) -> int:
    if sys.platform == "win32":
        raise InputError("run: needs a POSIX system: use `vllm serve ... 2>&1 | vllm-triage`")
    from vllm_triage.live.pipe import Guarded
    from vllm_triage.live.run import supervise

    words = args.words[1:] if args.words[:1] == ["--"] else args.words
    if not words:
        print("vllm-triage: run: expected a command after --, such as `-- vllm serve MODEL`", file=sys.stderr)
        return USAGE
    if shutil.which(words[0], os.F_OK) is None:
        # As a shell has it.
        print(f"vllm-triage: run: {words[0]}: no such command on PATH", file=sys.stderr)
        return 127
    with echo_to(sys.stdout, args.tee) as echo:
        session = session_of(args, lambda: (_origin(words), True), sys.stderr, echo)
        taker = Guarded(session)
        try:
            ending = supervise(words, echo, taker, sys.stdout.isatty(), _say_left)
        except PermissionError as error:
            print(f"vllm-triage: run: {words[0]}: {error.strerror}: is it a program?", file=sys.stderr)
            return CANNOT_RUN
    status = ending.status or 0
    report = None
    try:
        taker.check()
        report = session.close(ending)
        if report.verdict == "failed":
            _write_event(args.termination_log, report, status)
            end_line(sys.stderr, echo)
            write_all(args, [Answer(report)], sys.stderr)
    except Exception as error:  # no fault of ours, nor a disk that is full, changes how the server ends
        with suppress(OSError):
            _say_failed(error)
    # Whoever told it to stop does not ask whether starting again can help.
    if args.exit_code_map and report and report.verdict == "failed" and not ending.told:
        retry = report.cause.retry if report.cause else "unknown"
        return int(args.exit_code_map.get(retry, status if status > 0 else 1))
    if status < 0:
        _die_by(-status)
        return 128 - status  # pid 1 can't end by a signal
    return status


def _die_by(number: int) -> None:
    """What waits for us sees the signal that ended the command; the memory image would be of the wrong process."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    with suppress(OSError):  # SIGKILL has no handler to put back
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _say_left() -> None:
    with suppress(OSError):
        print(
            "vllm-triage: processes of the command live on; they may still hold GPU memory", file=sys.stderr
        )


def _say_failed(error: Exception) -> None:
    if isinstance(error, OSError):
        print(f"vllm-triage: {error.filename or 'the report'}: {error.strerror}", file=sys.stderr)
    else:
        our_error(error, debug=False)


def _origin(words: list[str]) -> Origin:
    from vllm_triage.model import Origin

    return Origin(tuple(words), dict(os.environ), os.getcwd())


def _write_event(path: str | None, report: Report, status: int) -> None:
    """A termination log that can't be written must not change how the server ends."""
    from vllm_triage.report import event

    target = path or (_TERMINATION_LOG if os.path.exists(_TERMINATION_LOG) else None)
    if target is None:
        return
    try:
        with open(target, "w", encoding="utf-8") as file:
            file.write(event.render(report, status))
    except OSError as error:
        print(f"vllm-triage: {target}: {error.strerror}: no event was written", file=sys.stderr)


def _map(text: str) -> dict[str, int]:
    """The statuses of "retry=75,change=78"."""
    pairs = dict(part.partition("=")[::2] for part in text.split(","))
    for name, status in pairs.items():
        if name not in _VERDICTS or not status.isdigit() or not 0 < int(status) < 126:
            raise argparse.ArgumentTypeError(
                f"expected NAME=STATUS with {', '.join(_VERDICTS)} and 1 to 125, got {name}={status}"
            )
    return {name: int(status) for name, status in pairs.items()}
