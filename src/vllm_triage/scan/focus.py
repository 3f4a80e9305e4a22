"""Which of the kept lines are worth parsing: most bytes of a long log are of no interest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from vllm_triage.scan.literals import LiteralIndex
from vllm_triage.scan.window import AFTER, BEFORE, MAX_HITS, ScannedLine

Regions = tuple[tuple[ScannedLine, ...], ...]

# A log of fewer lines is parsed as a whole.
_SHORT = 1500
_HEAD = 300
_TAIL = 500


def focus(regions: Regions, index: Callable[[], LiteralIndex]) -> Regions:
    """The head, the tail, and what surrounds lines with a literal; all of a short log.

    A literal of more lines than 300 says nothing about a line: the first and last of them are kept.
    """
    total = sum(map(len, regions))
    if total <= _SHORT:
        return regions
    literals = index()
    narrowed: list[tuple[ScannedLine, ...]] = []
    begun = 0
    for region in regions:
        wanted = bytearray(len(region))
        _mark(wanted, 0, _HEAD - begun)
        _mark(wanted, total - begun - _TAIL, len(region))
        for row in _candidates([line.text for line in region], literals):
            _mark(wanted, row - BEFORE, row + AFTER + 1)
        narrowed += _runs(region, wanted)
        begun += len(region)
    return tuple(narrowed)


def _mark(wanted: bytearray, start: int, end: int) -> None:
    start, end = max(start, 0), min(end, len(wanted))
    if start < end:
        wanted[start:end] = b"\1" * (end - start)


def _candidates(texts: Sequence[str], index: LiteralIndex) -> Iterable[int]:
    rows: dict[int, list[int]] = defaultdict(list)
    for row, literals in index.lines_with(texts).items():
        for literal in literals:
            rows[literal].append(row)
    for found in rows.values():
        found.sort()
        yield from found if len(found) <= MAX_HITS else (found[0], found[-1])


def _runs(region: Sequence[ScannedLine], wanted: bytearray) -> Iterable[tuple[ScannedLine, ...]]:
    rows = groupby(range(len(region)), wanted.__getitem__)
    return [tuple(region[row] for row in run) for keep, run in rows if keep]
