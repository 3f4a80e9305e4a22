"""Whose a raw traceback is, where no prefix says it: that of the process whose stamped copy it repeats."""

from __future__ import annotations

from collections.abc import Sequence

from vllm_triage.model import ErrorBlock

_Print = tuple[str, str, tuple[str, int] | None]


def attribute(blocks: Sequence[ErrorBlock]) -> tuple[ErrorBlock, ...]:
    """Give each exception without a process that of an equal one that has one.

    From 0.32 on raw tracebacks have no prefix, and the same exception stands in the log a second
    time in a stamped record.
    """
    owners: dict[_Print, str] = {}
    for block in blocks:
        if block.process:
            owners.setdefault(_print(block), block.process)
    return tuple(
        block if block.process else block._replace(process=owners.get(_print(block), "")) for block in blocks
    )


def _print(block: ErrorBlock) -> _Print:
    """What two printings of one exception share: type, message and the place it was raised at."""
    last = block.frames[-1] if block.frames else None
    return block.type, block.message, (last.file, last.line) if last else None
