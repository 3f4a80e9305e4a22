"""The scanner: decoding, framing, carriers and the window of kept lines, strung together."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from vllm_triage.scan.block import Block, ScannedLine
from vllm_triage.scan.carriers.detect import Chain, detect
from vllm_triage.scan.decoding import Decoder
from vllm_triage.scan.escapes import holds_escapes
from vllm_triage.scan.focus import focus
from vllm_triage.scan.framing import Framer
from vllm_triage.scan.landmarks import LANDMARKS
from vllm_triage.scan.lines import UNCLEAN, NumberedLine, has_controls, physical_lines
from vllm_triage.scan.literals import LiteralIndex
from vllm_triage.scan.nature import Nature, TextGauge
from vllm_triage.scan.watched import WATCHED
from vllm_triage.scan.window import Window

# Lines, or bytes if they come first, of the start of a log by which its carriers are recognised.
_SAMPLE_LINES = 2000
_SAMPLE_BYTES = 4 * 1024 * 1024
# What a block is asked for besides candidates.
_SIGNS = (*UNCLEAN, *WATCHED)


@dataclass(frozen=True)
class Scan:
    """What was kept of a log.

    Attributes:
        regions: runs of consecutive lines worth parsing, in order; one run of everything of a short log.
        total_lines: newlines of the input, and one more for an unfinished last line.
        carriers: names of the carriers undone, outermost first.
        nature: whether there is text at all; of a file known as binary by its first bytes nothing is kept.
    """

    regions: tuple[tuple[ScannedLine, ...], ...]
    total_lines: int
    carriers: tuple[str, ...]
    nature: Nature


class Scanner:
    """Takes a log in chunks of any size and keeps what is worth looking at, in bounded memory.

    Args:
        literals: what makes a line a candidate, made by `index_of`; the landmarks if not given.
            Matters only for long logs.
        max_lines: how many lines are kept; see `Window`.
    """

    def __init__(self, literals: LiteralIndex | None = None, max_lines: int = 20_000) -> None:
        self._decoder = Decoder()
        self._index = (lambda: literals) if literals is not None else _landmarks
        self._text = _Text(Window(self._index, max_lines))

    def feed(self, chunk: bytes) -> None:
        """Take the next part of the log, cut anywhere."""
        for data in self._decoder.push(chunk):
            self._text.take(data)

    def take_seen(self) -> set[str]:
        """The words of `WATCHED` in the lines that have ended since this was asked the last time."""
        seen, self._text.seen = self._text.seen, set()
        return seen

    def snapshot(self) -> Scan:
        """What has been seen so far, with an unfinished last line; more may be fed afterwards."""
        text = self._text.copy()
        text.take(self._decoder.pending())
        regions = focus(text.finish(), self._index)
        return Scan(
            regions=regions,
            total_lines=text.total_lines,
            carriers=(*self._decoder.names, *text.carriers),
            nature="binary" if self._decoder.binary else text.nature,
        )

    def close(self) -> Scan:
        """The log has ended; nothing may be fed afterwards."""
        for data in self._decoder.finish():
            self._text.take(data)
        return self.snapshot()


class _Text:
    """The way of decoded text into the window."""

    def __init__(self, window: Window) -> None:
        self.total_lines = 0
        # Signs of the index in the lines so far.
        self.seen: set[str] = set()
        self._window = window
        self._gauge = TextGauge()
        self._framer = Framer()
        self._escapes = False
        # Until the carriers are known, blocks are held back here.
        self._sample: list[bytes] = []
        self._chain: Chain | None = None

    def copy(self) -> _Text:
        twin = _Text(self._window.copy())
        twin.total_lines = self.total_lines
        twin.seen = set()
        twin._gauge, twin._framer, twin._chain = copy.deepcopy((self._gauge, self._framer, self._chain))
        twin._escapes = self._escapes
        twin._sample = list(self._sample)
        return twin

    @property
    def nature(self) -> Nature:
        return self._gauge.nature

    @property
    def carriers(self) -> tuple[str, ...]:
        """Names of the carriers undone so far, outermost first."""
        names = self._chain.names if self._chain else ()
        return ("ansi", *names) if self._escapes else names

    def take(self, data: bytes) -> None:
        """Take more of the text, cut anywhere."""
        self._gauge.push(data)
        for block in self._framer.push(data):
            self._add(block)

    def finish(self) -> tuple[tuple[Block, ...], ...]:
        """The text has ended; what is kept of it."""
        if rest := self._framer.rest():
            self._add(rest + b"\n")
        if self._chain is None:
            self._begin()
        assert self._chain is not None
        self._keep(self._chain.flush())
        return self._window.regions()

    def _add(self, block: bytes) -> None:
        first = self.total_lines + 1
        count = block.count(b"\n")
        self.total_lines += count
        if b"\r" in block:
            block = block.replace(b"\r\n", b"\n")
        # One search finds the candidates, and tells whether the lines are clean as they stand.
        sightings, signs = self._window.search(block)
        self.seen.update(_SIGNS[sign] for sign in signs)
        if self._chain is None:
            self._sample.append(block)
            if self.total_lines >= _SAMPLE_LINES or sum(map(len, self._sample)) >= _SAMPLE_BYTES:
                self._begin()
        elif not self._chain.transparent or has_controls(block) or any(sign < len(UNCLEAN) for sign in signs):
            self._keep(self._chain.push(self._clean(block, first)))
        else:
            self._window.add(block, range(first, first + count), sightings)

    def _begin(self) -> None:
        """Find out the carriers and let through what was held back."""
        lines = self._clean(b"".join(self._sample), 1) if self._sample else []
        self._sample = []
        self._chain = detect([line for line in lines if line[0] <= _SAMPLE_LINES])
        self._keep(self._chain.push(lines))

    def _clean(self, block: bytes, first: int) -> list[NumberedLine]:
        self._escapes = self._escapes or holds_escapes(block)
        return physical_lines(block, first)

    def _keep(self, lines: list[NumberedLine]) -> None:
        if lines:
            text = "".join(f"{text}\n" for _, text in lines).encode("utf-8", "replace")
            self._window.add(text, [number for number, _ in lines])


def index_of(literals: Sequence[str]) -> LiteralIndex:
    """An index for a scanner: the literals have the first indexes, and the landmarks of a log go on from there."""
    return LiteralIndex([*literals, *LANDMARKS], _SIGNS)


@cache
def _landmarks() -> LiteralIndex:
    return index_of(())
