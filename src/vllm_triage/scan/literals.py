"""Which of many literals occur where in a text: hyperscan where it has a wheel, a trie in `re` elsewhere."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from copy import copy
from itertools import accumulate
from threading import Lock
from typing import Any, Literal

from vllm_triage.cache import keep, kept

# A compiled database of fewer literals is made faster than it is read.
_WORTH_KEEPING = 500
_KEPT = "literals.hyperscan"

_Find = Callable[[bytes], list[tuple[int, int]]]


class LiteralIndex:
    """Finds all occurrences, overlapping ones too, of literals whatever their ASCII capitals.

    Both engines give the same answers; `engine` says which one is at work. Thread-safe.

    Args:
        literals: texts without a line end; their places in this sequence are their indexes.
        signs: texts of which one occurrence says as much as many; their indexes go on after those of
            the literals, and not every occurrence need be found.
        engine: "auto" takes hyperscan and falls back silently where it can't be imported or
            doesn't run on this processor.

    Raises:
        ValueError: a literal is empty or holds a line end.
        ImportError: engine="hyperscan" and it isn't installed.
    """

    def __init__(
        self,
        literals: Sequence[str],
        signs: Sequence[str] = (),
        *,
        engine: Literal["auto", "hyperscan", "re"] = "auto",
    ) -> None:
        for literal in (*literals, *signs):
            if not literal or "\n" in literal:
                raise ValueError(f"a literal must be one non-empty line, not {literal!r}")
        self.literals = tuple(literals)
        self.engine: str = "re"
        self._needles = dict(enumerate(_encode(literal).lower() for literal in (*literals, *signs)))
        self._latest: tuple[frozenset[int], LiteralIndex] | None = None
        needles = self._needles
        if engine != "re" and needles:
            try:
                self._find: _Find = _hyperscan(needles, self.first_sign, keeps=len(needles) >= _WORTH_KEEPING)
                self.engine = "hyperscan"
                return
            except Exception:
                if engine == "hyperscan":
                    raise
        self._find = _trie(needles)

    @property
    def first_sign(self) -> int:
        """The index of the first sign."""
        return len(self.literals)

    def without(self, indexes: Collection[int]) -> LiteralIndex:
        """One that does not look for some of the literals; the others keep their indexes."""
        gone = frozenset(indexes)
        if self._latest is None or self._latest[0] != gone:
            left = {index: needle for index, needle in self._needles.items() if index not in gone}
            twin = copy(self)
            hyperscan = left and self.engine == "hyperscan"
            # Which literals are left depends on the log: not to be kept in the place of a catalog's.
            twin._find = _hyperscan(left, self.first_sign, keeps=False) if hyperscan else _trie(left)
            self._latest = gone, twin
        return self._latest[1]

    def find(self, text: str | bytes) -> list[tuple[int, int]]:
        """(index, end offset in bytes of the UTF-8 text) of every occurrence, those of one literal in their order."""
        return self._find(text if isinstance(text, bytes) else _encode(text))

    def lines_with(self, lines: Sequence[str]) -> dict[int, set[int]]:
        """Line index -> indexes of the literals that the line contains; lines with none are left out."""
        encoded = [_encode(line) for line in lines]
        starts = list(accumulate((len(line) + 1 for line in encoded), initial=0))
        found: dict[int, set[int]] = {}
        for literal, end in self._find(b"\n".join(encoded)):
            if literal >= self.first_sign:
                continue
            found.setdefault(bisect_right(starts, end - 1) - 1, set()).add(literal)
        return found


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _hyperscan(needles: Mapping[int, bytes], first_sign: int, *, keeps: bool) -> _Find:
    database = _database(needles, first_sign, keeps)
    scratch = Lock()

    def find(text: bytes) -> list[tuple[int, int]]:
        hits: list[tuple[int, int]] = []

        def collect(literal: int, start: int, end: int, flags: int, context: object) -> None:
            hits.append((literal, end))

        with scratch:
            database.scan(text, match_event_handler=collect)
        return hits

    return find


def _database(needles: Mapping[int, bytes], first_sign: int, keeps: bool) -> Any:
    """Compiled; that of a whole catalog, which takes longer than to read a log, is kept for the next time."""
    # The types of the wheel are incomplete.
    import hyperscan

    library: Any = hyperscan
    mode = library.HS_MODE_BLOCK
    once = library.HS_FLAG_CASELESS | library.HS_FLAG_SINGLEMATCH
    flags = [library.HS_FLAG_CASELESS if index < first_sign else once for index in needles]
    made_from = (b"%d:%d:%s" % one for one in zip(needles, flags, needles.values(), strict=True))
    key = b"\0".join([library.__version__.encode(), *made_from])
    if keeps and (data := kept(_KEPT, key)):
        with suppress(library.error):
            database = library.loadb(data, mode)
            database.scratch = library.Scratch(database)
            return database
    database = library.Database(mode=mode)
    database.compile(
        expressions=list(needles.values()),
        ids=list(needles),
        elements=len(needles),
        flags=flags,
        literal=True,
    )
    if keeps:
        keep(_KEPT, key, library.dumpb(database))
    return database


def _trie(needles: Mapping[int, bytes]) -> _Find:
    """One regular expression finds the longest needle at a place, a table tells the others there."""
    if not needles:
        return lambda text: []
    search = re.compile(_pattern(sorted(set(needles.values())), 0)).search
    by_text: dict[bytes, list[int]] = {}
    for index, needle in needles.items():
        by_text.setdefault(needle, []).append(index)
    begins_with = {
        needle: [(index, end) for end in range(1, len(needle) + 1) for index in by_text.get(needle[:end], ())]
        for needle in by_text
    }

    def find(text: bytes) -> list[tuple[int, int]]:
        folded = text.lower()
        hits: list[tuple[int, int]] = []
        match = search(folded)
        while match:
            start = match.start()
            hits += [(index, start + end) for index, end in begins_with[match[0]]]
            match = search(folded, start + 1)
        return hits

    return find


def _pattern(needles: Sequence[bytes], depth: int) -> bytes:
    """The trie of sorted needles that agree in their first `depth` bytes, as a pattern for what follows."""
    first = needles[0]
    common = depth
    while common < len(first) and all(needle[: common + 1] == first[: common + 1] for needle in needles):
        common += 1
    ends_here = common == len(first)
    longer = needles[1:] if ends_here else needles
    branches: dict[int, list[bytes]] = {}
    for needle in longer:
        branches.setdefault(needle[common], []).append(needle)
    stem = re.escape(first[depth:common])
    if not branches:
        return stem
    tail = b"|".join(_pattern(group, common) for group in branches.values())
    return stem + b"(?:" + tail + (b")?" if ends_here else b")")
