"""A log that is being written, on the command line: what the pipe, `run` and `follow` share."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, TextIO

from vllm_triage.cli.facts import facts_of_file
from vllm_triage.cli.inputs import InputError
from vllm_triage.cli.output import write
from vllm_triage.cli.packs import with_packs

if TYPE_CHECKING:
    from vllm_triage.live.echo import Echo
    from vllm_triage.live.session import Session
    from vllm_triage.live.watch import Event
    from vllm_triage.model import Origin
    from vllm_triage.pipeline import Triager
    from vllm_triage.report import Report

Whose = Callable[[], "tuple[Origin | None, bool]"]


def add_live_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tee", metavar="FILE", help="write a copy of the log there, too")
    parser.add_argument(
        "--stall-after",
        metavar="SECONDS",
        type=_seconds,
        help="say so if a start is silent for longer (default: what its phase may take)",
    )


def add_machine_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--probe",
        action=argparse.BooleanOptionalAction,
        help="ask this machine to confirm or refute (the log must be from here)",
    )
    parser.add_argument(
        "--facts",
        metavar="FILE",
        help="ask what `vllm-triage collect` (or vLLM's collect-env) wrote on the host that failed",
    )


def triager_of(args: argparse.Namespace, origin: Origin | None = None, probes: bool = False) -> Triager:
    """The Triager that the options ask for; `probes` is whether the machine is asked without a word about it."""
    from vllm_triage.pipeline import Triager

    facts = facts_of_file(args.facts) if args.facts else None
    asked = probes if args.probe is None else args.probe
    return with_packs(partial(Triager, probes=asked, facts=facts, origin=origin), args.rules)


def session_of(
    args: argparse.Namespace, whose: Whose, says: TextIO, echo: Echo, speaks: bool = True
) -> Session:
    """A session that speaks up on `says`, if reports are for people.

    `whose` tells which process writes the log, and whether what is seen here holds for it; it is
    asked once, when the first piece has come.

    Raises:
        InputError: The facts can't be read, or the report could not be written: better said now than
            when the server has ended.
    """
    from vllm_triage.live.session import Session

    if args.facts:
        facts_of_file(args.facts)
    if args.output:
        _check_writable(args.output)
    begun = time.monotonic()

    def make() -> Triager:
        origin, here = whose()
        return triager_of(args, origin, probes=here)

    def announce(event: Event, report: Report) -> None:
        with suppress(OSError):  # whoever does not read it any more must not end the echo
            say(event, report)

    def say(event: Event, report: Report) -> None:
        from vllm_triage.report import announce as texts
        from vllm_triage.report.terminal import draw, surface_of

        end_line(says, echo)
        if event == "failing":
            print("vllm-triage: it has failed and lives on; so far:", file=says)
            write(args, report, says)
        elif event == "ready":
            print(texts.ready(report, time.monotonic() - begun), file=says)
        else:
            surface = surface_of(says)
            draw(texts.stalled(report, session.log, session.silent_s, surface.columns), says, surface)
        says.flush()

    for_people = speaks and args.format == "text" and not args.quiet
    session = Session(make, announce if for_people else None, args.stall_after)
    return session


def _check_writable(name: str) -> None:
    place = name if os.path.exists(name) else os.path.dirname(name) or "."
    if not os.path.isdir(place) and name != place:
        raise InputError(f"{name}: there is no such folder: choose another name for the report")
    if os.path.isdir(name) or not os.access(place, os.W_OK):
        raise InputError(f"{name}: it can't be written: choose another name for the report")


@contextmanager
def echo_to(file: TextIO | None, copy: str | None) -> Iterator[Echo]:
    """The echo to a standard stream and to a file of this name (`--tee`), where they are wanted.

    Raises:
        InputError: The copy can't be written.
    """
    from vllm_triage.live.echo import Echo

    sinks = {file.fileno(): "standard output"} if file is not None else {}
    try:
        opened = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666) if copy else None
    except OSError as error:
        raise InputError(f"{copy}: {error.strerror}: choose another name for the copy") from None
    if opened is not None:
        sinks[opened] = str(copy)
    try:
        yield Echo(sinks, _say_lost)
    finally:
        if opened is not None:
            os.close(opened)


def _say_lost(name: str, reason: str) -> None:
    with suppress(OSError):  # often both streams lie on the disk that is full
        print(f"vllm-triage: {name} gets no more of the log: {reason}; it is still read", file=sys.stderr)


def end_line(file: TextIO, echo: Echo) -> None:
    """Begin a line of our own on a terminal where the log stopped within one, or left a colour on."""
    if file.isatty():
        file.write("\x1b[0m\n" if echo.ends_in_line else "\x1b[0m")
        file.flush()


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"expected seconds above 0, got {text}")
    return seconds
