"""What to say when a log does not hold what is needed to name a cause."""

from __future__ import annotations

from collections.abc import Sequence

from vllm_triage.model import Line, Role


def of_wrapper(wrapper: Line, lines: Sequence[Line]) -> str:
    """Which part is gone from a log that holds only what refers to it, and how to get it."""
    whose = (
        "of the worker processes"
        if any(line.role is Role.ENGINE for line in lines)
        else "of the engine core and its workers"
    )
    return (
        f"Only follow-up messages are left: line {wrapper.number} refers to an error that was printed before it. "
        f"The part {whose} is not in this log. Take the log from its beginning, with standard output and "
        "standard error together (`2>&1`), from every rank or container."
    )


def of_cut_traceback() -> str:
    """What an end in the middle of a traceback means."""
    return (
        "The log ends in the middle of a traceback, before the exception that it leads to: take it until "
        "the process ends."
    )


def of_unfinished(looks_like_vllm: bool) -> str:
    """What an end without an error means."""
    if not looks_like_vllm:
        return "This does not look like the log of a vLLM server."
    return "The log ends before the server was ready and shows no error: take it until the process ends."
