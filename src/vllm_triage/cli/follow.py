"""`follow FILE`: reads a growing log as `tail -F` does, and speaks up when something happens."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from vllm_triage.cli.inputs import InputError
from vllm_triage.cli.live import add_live_options, add_machine_options, echo_to, session_of
from vllm_triage.cli.output import Answer, add_output_options, write_all
from vllm_triage.cli.packs import add_rules_option


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "follow", help="read a growing log file through rotation and truncation; Ctrl-C ends it with a report"
    )
    parser.add_argument("file", metavar="FILE", type=Path)
    add_output_options(parser)
    add_live_options(parser)
    add_machine_options(parser)
    add_rules_option(parser)


def run(args: argparse.Namespace) -> int:
    from vllm_triage.live.follow import followed
    from vllm_triage.live.pipe import drive

    if args.file.is_dir():
        raise InputError(f"{args.file}: a folder: name the log itself")
    if not args.file.exists():
        print(f"vllm-triage: {args.file}: not there yet: waiting for it", file=sys.stderr)
    with echo_to(None, args.tee) as echo:
        session = session_of(args, lambda: (None, False), sys.stdout, echo)
        try:
            # Nobody else is told to stop by Ctrl-C: once is enough.
            drive(partial(followed, args.file), echo, session, interrupts=1)
        except OSError as error:
            raise InputError(f"{args.file}: {error.strerror}: check the path and its permissions") from None
    return write_all(args, [Answer(session.provisional())], sys.stdout)
