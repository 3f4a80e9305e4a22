"""`collect`: the facts of this host as a file, to be read where the log is."""

from __future__ import annotations

import argparse
import sys


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "collect", help="write this host's facts as JSON, for --facts on another machine"
    )
    add_facts_options(parser)


def add_facts_options(parser: argparse.ArgumentParser) -> None:
    """What every command that asks the host takes."""
    parser.add_argument(
        "--model", help="the model to look at: a path, or a repo id that may be in the hub's cache"
    )
    parser.add_argument(
        "--python",
        metavar="FILE",
        default="vllm",
        help="the interpreter vLLM runs with, or its `vllm`, if that is not on PATH",
    )
    parser.add_argument("--online", action="store_true", help="ask the model hub about the repo, too")


def run(args: argparse.Namespace) -> int:
    from vllm_triage.probes.collect import collect
    from vllm_triage.probes.subject import of_command
    from vllm_triage.probes.travel import to_json

    facts = collect(of_command(args.model, program=args.python), online=args.online)
    sys.stdout.write(to_json(facts))
    return 0
