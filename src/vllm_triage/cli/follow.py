"""`follow FILE`: reads a growing log as `tail -F` does, and speaks up when something happens."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from vllm_triage.cli.live import add_live_options, add_machine_options, session_of
from vllm_triage.cli.output import Answer, add_output_options, write_all
from vllm_triage.cli.packs import add_rules_option

_POLL_S = 0.5


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
    from vllm_triage.live.follow import follow

    session = session_of(args, lambda: (None, False), sys.stdout)

    def wait() -> bool:
        session.tick()
        time.sleep(_POLL_S)
        return True

    try:
        for piece in follow(args.file, wait):
            session.feed(piece)
    except KeyboardInterrupt:
        pass
    return write_all(args, [Answer(session.close())], sys.stdout)
