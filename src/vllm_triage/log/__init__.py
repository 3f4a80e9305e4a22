"""Clean lines -> Log: prefixes read, exceptions found, attempts told apart."""

from __future__ import annotations

import re
from collections.abc import Iterable

from vllm_triage.lazy import lazy
from vllm_triage.log.asides import Asides
from vllm_triage.log.attempts import split_attempts
from vllm_triage.log.attribution import attribute
from vllm_triage.log.blocks import BlockReader, chains
from vllm_triage.log.phases import markers
from vllm_triage.log.prefix import split_prefix, split_records
from vllm_triage.model import ErrorBlock, Line, LineKind, Log, Region

__all__ = ["chains", "parse"]

_KINDS: dict[str, LineKind] = {
    "DEBUG": "info",
    "INFO": "info",
    "WARNING": "warning",
    "ERROR": "error",
    "CRITICAL": "error",
}
_QUIET = {"WARNING", "INFO", "DEBUG"}
_VLLM = lazy(r"vllm|EngineCore|LLMEngine", re.IGNORECASE)
# A validator's message under a heading of some other program's own.
_VALIDATOR = lazy(r"\s*(?:Value error|Assertion failed), .{1,1000}\[type=\w")
# An error that is not the last word on it.
_RETRIES = lazy(r", retrying \d+ of \d+$")
_RAISES = lazy(r"\s*(?:raise [\w.]+\(f?[\"']\S|assert \S)")


def parse(regions: Iterable[Iterable[tuple[int, str]]], total_lines: int, source: str = "") -> Log:
    """Read clean lines, given as (number, text) in runs of consecutive lines.

    `source` names the file the lines are from where a log has several.
    """
    asides = Asides()
    lines: list[Line] = []
    sizes: list[int] = []
    stamped = False
    for region in regions:
        before = len(lines)
        for number, raw in ((number, part) for number, text in region for part in split_records(text)):
            prefix = split_prefix(raw)
            stamped = stamped or prefix.writer == "vllm"
            kind: LineKind = (
                "aside" if asides(prefix.text, prefix.writer) else _KINDS.get(prefix.level, "plain")
            )
            if kind == "error" and _RETRIES.search(prefix.text[-40:]):
                kind = "warning"
            lines.append(
                Line(
                    index=len(lines),
                    number=int(number),
                    text=prefix.text,
                    process=prefix.process,
                    pid=prefix.pid,
                    level=prefix.level,
                    origin=prefix.origin,
                    stamp=prefix.stamp,
                    kind=kind,
                    source=source,
                )
            )
        sizes.append(len(lines) - before)
    reader = BlockReader()
    blocks, framed = reader.read(lines)
    end = next((line for line in reversed(lines) if line.text.strip()), None)
    cut = end.index if end and reader.unfinished and end.index in framed else None
    lines, blocks = _with_kinds(lines, attribute(blocks), framed, cut)
    runs, start = [], 0
    for size in sizes:
        runs.append(Region(tuple(lines[start : start + size])))
        start += size
    return Log(
        regions=tuple(runs),
        blocks=blocks,
        attempts=split_attempts(lines, blocks),
        total_lines=total_lines,
        marks=tuple(markers(lines)),
        cut_off=lines[cut] if cut is not None and lines[cut].level not in _QUIET else None,
        looks_like_vllm=stamped or any(_VLLM.search(line.text) for line in lines),
    )


def _with_kinds(
    lines: list[Line], blocks: tuple[ErrorBlock, ...], framed: set[int], cut: int | None
) -> tuple[list[Line], tuple[ErrorBlock, ...]]:
    """Mark the lines of exceptions as such, once it is known which they are."""
    kinds: dict[int, LineKind] = dict.fromkeys(framed, "aside")
    for line in lines:
        if line.kind == "plain" and "[type=" in line.text and _VALIDATOR.match(line.text):
            kinds[line.index] = "exception"
    if cut is not None and _RAISES.match(lines[cut].text):
        # The line that raises an exception holds its message, too.
        kinds[cut] = "exception"
    for block in blocks:
        quiet = _KINDS.get(block.level) if block.level in _QUIET else None
        kinds[block.root.index] = quiet or "source"
        kinds.update({line.index: quiet or "exception" for line in block.lines})
    marked = [line._replace(kind=kinds[line.index]) if line.index in kinds else line for line in lines]
    return marked, tuple(
        block._replace(
            lines=tuple(marked[line.index] for line in block.lines),
            root=marked[block.root.index],
        )
        for block in blocks
    )
