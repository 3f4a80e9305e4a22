"""Lines in a row, as the bytes they came in, and what was found in them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from vllm_triage.scan.literals import LiteralIndex

# (literal, end offset) of what was found in a text.
Sightings = Sequence[tuple[int, int]]


class ScannedLine(NamedTuple):
    """A clean line; `number` counts newlines of the input from 1, parts of one line share it."""

    number: int
    text: str


class Block(NamedTuple):
    """Lines in a row: their text (each ends in a newline), the index of the first, the numbers they have.

    `sightings` is None where the text has not been searched.
    """

    start: int
    size: int
    text: bytes
    numbers: range | Sequence[int]
    sightings: Sightings | None = None

    @property
    def end(self) -> int:
        return self.start + self.size

    def lines(self) -> Iterator[tuple[int, int, bytes]]:
        """(index, number, text) of each line."""
        return zip(range(self.start, self.end), self.numbers, self.text[:-1].split(b"\n"), strict=True)

    def scanned(self) -> list[ScannedLine]:
        texts = self.text.decode("utf-8", "replace")[:-1].split("\n")
        return list(map(ScannedLine, self.numbers, texts))

    def found(self, index: LiteralIndex) -> Sightings:
        """What is found in it, signs of the index among it."""
        return index.find(self.text) if self.sightings is None else self.sightings

    def candidates(
        self, index: LiteralIndex, common: Collection[int] = frozenset()
    ) -> Iterator[tuple[int, int]]:
        """(row, literal) of what is found in it, in the order of the lines; of the common ones the first and last."""
        found = self.found(index)
        at, row, first_sign = 0, 0, index.first_sign
        wanted = {(end, one) for one, end in found if one < first_sign and one not in common}
        if common:
            for ends in (dict(found), dict(reversed(found))):
                wanted |= {(ends[one], one) for one in common if one in ends}
        for end, literal in sorted(wanted):
            row += self.text.count(b"\n", at, end)
            at = end
            yield row, literal

    def split(self, count: int) -> tuple[Block, Block]:
        """The first `count` lines, and the rest."""
        if count <= 0 or count >= self.size:
            empty = Block(self.start if count <= 0 else self.end, 0, b"", ())
            return (empty, self) if count <= 0 else (self, empty)
        cut = 0
        for _ in range(count):
            cut = self.text.find(b"\n", cut) + 1
        return (
            Block(self.start, count, self.text[:cut], self.numbers[:count]),
            Block(self.start + count, self.size - count, self.text[cut:], self.numbers[count:]),
        )
