"""Which of the kept lines are worth parsing: most bytes of a long log are of no interest."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from vllm_triage.scan.block import Block, ScannedLine
from vllm_triage.scan.literals import LiteralIndex
from vllm_triage.scan.window import AFTER, BEFORE, MAX_HITS

Regions = tuple[tuple[ScannedLine, ...], ...]

# A log of fewer lines is parsed as a whole.
_SHORT = 1500
_HEAD = 300
_TAIL = 500


def focus(regions: Sequence[Sequence[Block]], index: Callable[[], LiteralIndex]) -> Regions:
    """The head, the tail, and what surrounds lines with a literal; all of a short log.

    A literal that is there more than 300 times says nothing about a line: the first and last are kept.
    """
    sizes = [sum(block.size for block in blocks) for blocks in regions]
    total = sum(sizes)
    if total <= _SHORT:
        return tuple(tuple(line for block in blocks for line in block.scanned()) for blocks in regions)
    narrowed: list[tuple[ScannedLine, ...]] = []
    begun = 0
    for blocks, size in zip(regions, sizes, strict=True):
        wanted = bytearray(size)
        _mark(wanted, 0, _HEAD - begun)
        _mark(wanted, total - begun - _TAIL, size)
        for row in _candidates(blocks, index()):
            _mark(wanted, row - BEFORE, row + AFTER + 1)
        narrowed += _runs(blocks, wanted)
        begun += size
    return tuple(narrowed)


def _mark(wanted: bytearray, start: int, end: int) -> None:
    start, end = max(start, 0), min(end, len(wanted))
    if start < end:
        wanted[start:end] = b"\1" * (end - start)


def _candidates(blocks: Sequence[Block], index: LiteralIndex) -> Iterable[int]:
    blocks = [block._replace(sightings=block.found(index)) for block in blocks]
    counts = Counter(literal for block in blocks for literal, _ in block.sightings or ())
    common = {one for one, count in counts.items() if count > MAX_HITS and one < index.first_sign}
    ends: dict[int, list[int]] = defaultdict(list)
    begun = 0
    for block in blocks:
        for row, literal in block.candidates(index, common):
            if literal in common:
                ends[literal].append(begun + row)
            else:
                yield begun + row
        begun += block.size
    for rows in ends.values():
        yield from (rows[0], rows[-1])


def _runs(blocks: Iterable[Block], wanted: bytearray) -> Iterator[tuple[ScannedLine, ...]]:
    """The wanted lines, in runs; a block without one is not taken apart."""
    rows: list[ScannedLine | None] = []
    for block in blocks:
        begun = len(rows)
        rows += block.scanned() if any(wanted[begun : begun + block.size]) else [None] * block.size
    for keep, run in groupby(zip(wanted, rows, strict=True), lambda pair: pair[0]):
        if keep:
            yield tuple(line for _, line in run if line is not None)
