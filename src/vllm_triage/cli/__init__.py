"""The command line: chooses the command; each is one module."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from vllm_triage.cli.status import INTERRUPTED, OUR_ERROR, READER_GONE, USAGE

__all__ = ["COMMANDS", "USAGE", "main"]

COMMANDS = ("collect", "doctor", "explain", "follow", "preflight", "rules", "run")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Args:
        argv: The arguments without the program's name; those of the process by default.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    _open_streams()
    try:
        return _run(words)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The interpreter flushes standard output once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_GONE
    except Exception as error:
        from vllm_triage.cli.inputs import InputError

        if isinstance(error, InputError):
            print(f"vllm-triage: {error}", file=sys.stderr)
            return USAGE
        return our_error(error, debug="--debug" in words)


def _open_streams() -> None:
    """A standard stream that was closed (`2>&-`) swallows what is written, as if it were /dev/null."""
    for name, number in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            # The next file that is opened would get its number, and what is meant for it.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            if nowhere != number:
                os.dup2(nowhere, number)
            setattr(sys, name, os.fdopen(number, "w", encoding="utf-8", closefd=False))


def _run(words: list[str]) -> int:
    if words == ["--version"]:
        from vllm_triage import __version__

        print(f"vllm-triage {__version__}")
        return 0
    if words and words[0] in COMMANDS:
        import argparse

        command = import_module(f"vllm_triage.cli.{words[0]}")
        parser = argparse.ArgumentParser(prog="vllm-triage")
        command.add_parser(parser.add_subparsers(dest="command", required=True))
        return int(command.run(parser.parse_args(words)))
    from vllm_triage.cli import triage

    return triage.run(triage.parser().parse_args(words))


def our_error(error: Exception, debug: bool) -> int:
    """Say what to do about it, and return the exit status."""
    from vllm_triage import __version__
    from vllm_triage.redact import redact

    if debug:
        import traceback

        traceback.print_exception(error)
    last = error.__traceback__
    while last and last.tb_next:
        last = last.tb_next
    where = f" ({os.path.basename(last.tb_frame.f_code.co_filename)}:{last.tb_lineno})" if last else ""
    more = "" if debug else " Run it again with --debug for the traceback."
    print(
        f"vllm-triage: an error of our own: {redact(f'{type(error).__name__}: {error}')[:300]}{where}\n"
        f"This is a bug in vllm-triage {__version__} and says nothing about your server.{more} Please open an "
        "issue with it, and with the part of the log that shows it.",
        file=sys.stderr,
    )
    return OUR_ERROR
