"""Which lines of an endless stream are kept: head, tail, and what surrounds candidate lines in between."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from vllm_triage.scan.block import Block, Sightings
from vllm_triage.scan.literals import LiteralIndex

BEFORE = 200
AFTER = 60
# A literal that stands in more lines than these says nothing about a line of this log.
MAX_HITS = 300
# So many hits that say nothing take as long as to make an index without their literals.
_MAX_WASTED = 30_000
# Bytes of text in each of head, tail and middle; the tail holds BEFORE lines of any length.
_BYTES = 16 * 1024 * 1024


class Window:
    """Holds at most `max_lines` lines (and 48 MB) of what is added.

    Everything is kept as long as it fits. After that: the head (a quarter), the tail (a half), and
    of the lines between them those up to 200 lines before and 60 after a candidate, the first and
    the last of them if they are too many. Which lines those are does not depend on how the stream
    was cut into blocks.

    Args:
        literals: a line that holds one of them is a candidate; asked for when first needed.
        max_lines: a limit below 4 is taken as 4.
    """

    def __init__(self, literals: Callable[[], LiteralIndex], max_lines: int) -> None:
        self._literals = literals
        # Without those that have been seen too often.
        self._index: LiteralIndex | None = None
        self._max_lines = max(max_lines, 4)
        self._head_lines = self._max_lines // 4
        self._tail_lines = self._max_lines // 2
        middle = self._max_lines - self._head_lines - self._tail_lines
        self._before = min(BEFORE, self._tail_lines)
        self._head: list[Block] = []
        self._head_open = True
        self._middle = _Middle(middle)
        self._ring: deque[Block] = deque()
        self._unsearched: deque[Block] = deque()
        self._hits: deque[int] = deque()
        self._counts: Counter[int] = Counter()
        self._wasted = 0
        self._total = 0
        self._total_bytes = 0
        self._ring_count = 0
        self._ring_bytes = 0
        self._head_bytes = 0

    def copy(self) -> Window:
        """A window with the same lines, to which more can be added without changing this one."""
        twin = Window.__new__(Window)
        twin.__dict__.update(self.__dict__)
        twin._head = list(self._head)
        twin._middle = self._middle.copy()
        twin._counts = self._counts.copy()
        for name in ("_ring", "_unsearched", "_hits"):
            setattr(twin, name, deque(getattr(self, name)))
        return twin

    def search(self, text: bytes) -> tuple[Sightings, set[int]]:
        """What is found in a text, and which signs of the index are there, counted from 0."""
        index = self._index = self._index or self._literals()
        found = index.find(text)
        first = index.first_sign
        has_signs = found and max(found)[0] >= first
        return found, {one - first for one, _ in found if one >= first} if has_signs else set()

    def add(self, text: bytes, numbers: range | Sequence[int], sightings: Sightings | None = None) -> None:
        """Add lines (each ends in a newline) and the number of each; `sightings` if it was searched."""
        block = Block(self._total, len(numbers), text, numbers, sightings)
        if not block.size:
            return
        self._total += block.size
        self._total_bytes += len(text)
        self._unsearched.append(block)
        if self._head_open:
            rest = self._fill_head(block)
            if rest is None:
                return
            block = rest
        self._ring.append(block)
        self._ring_count += block.size
        self._ring_bytes += len(block.text)
        while self._overfull(self._ring[0]):
            self._judge(self._pop())

    def regions(self) -> tuple[tuple[Block, ...], ...]:
        """Runs of consecutive kept lines, in order. Ends the window: nothing may be added after it."""
        self._trim()
        runs: list[list[Block]] = []
        expected = -1
        for block in (*self._head, *_as_blocks(self._middle), *self._ring):
            if block.start != expected:
                runs.append([])
            runs[-1].append(block)
            expected = block.end
        return tuple(map(tuple, runs))

    def _fill_head(self, block: Block) -> Block | None:
        """Put into the head what fits; returns the rest of the block."""
        room = self._head_lines - block.start
        if block.size <= room and self._head_bytes + len(block.text) <= _BYTES:
            self._head.append(block)
            self._head_bytes += len(block.text)
            return None
        self._head_open = False
        fits = 0
        for _, _, text in islice(block.lines(), max(room, 0)):
            self._head_bytes += len(text) + 1
            if self._head_bytes > _BYTES:
                break
            fits += 1
        first, rest = block.split(fits)
        if first.size:
            self._head.append(first)
        return rest if rest.size else None

    def _whole(self) -> bool:
        """Whether everything seen so far may stay."""
        return self._total <= self._max_lines and self._total_bytes <= 3 * _BYTES

    def _overfull(self, oldest: Block) -> bool:
        """Whether no line of the oldest block belongs to the tail any more."""
        return not self._whole() and (
            self._ring_count - oldest.size >= self._tail_lines
            or self._ring_bytes - len(oldest.text) >= _BYTES
        )

    def _pop(self) -> Block:
        block = self._ring.popleft()
        self._ring_count -= block.size
        self._ring_bytes -= len(block.text)
        return block

    def _trim(self) -> None:
        """Take from the ring the lines of its oldest block that are not of the tail."""
        if not self._ring or self._whole():
            return
        oldest = self._ring[0]
        surplus = max(0, self._ring_count - self._tail_lines)
        size, leaving = self._ring_bytes, 0
        for _, _, text in oldest.lines():
            if leaving >= surplus and size <= _BYTES:
                break
            size -= len(text) + 1
            leaving += 1
        first, rest = self._pop().split(leaving)
        if rest.size:
            self._ring.appendleft(rest)
        if first.size:
            self._judge(first)

    def _judge(self, block: Block) -> None:
        """Keep of a block that leaves the tail what surrounds candidates."""
        self._search(block.end + self._before)
        while self._hits and self._hits[0] + AFTER < block.start:
            self._hits.popleft()
        kept_to = block.start
        spans: list[tuple[int, int]] = []
        for hit in self._hits:
            start, end = max(kept_to, hit - self._before), min(block.end, hit + AFTER + 1)
            if start >= block.end:
                break
            if start < end:
                spans.append((start - block.start, end - block.start))
                kept_to = end
        if spans:
            lines = list(block.lines())
            for start, end in spans:
                self._middle.extend(lines[start:end])

    def _search(self, end: int) -> None:
        """Look for literals in all lines before the index `end`."""
        while self._unsearched and self._unsearched[0].start < end:
            block = self._unsearched.popleft()
            index = self._index = self._index or self._literals()
            for row, literal in block.candidates(index):
                self._counts[literal] += 1
                if self._counts[literal] > MAX_HITS:
                    self._wasted += 1
                elif not self._hits or self._hits[-1] != block.start + row:
                    self._hits.append(block.start + row)
            if self._wasted > _MAX_WASTED:
                self._wasted = 0
                tired = {literal for literal, count in self._counts.items() if count > MAX_HITS}
                self._index = self._literals().without(tired)


class _Middle:
    """Lines between head and tail: the first ones for good, after them the latest."""

    def __init__(self, lines: int) -> None:
        self._limit = lines
        self._first: list[tuple[int, int, bytes]] = []
        self._first_bytes = 0
        self._latest: deque[tuple[int, int, bytes]] = deque()
        self._latest_bytes = 0

    def __iter__(self) -> Iterator[tuple[int, int, bytes]]:
        yield from self._first
        yield from self._latest

    def copy(self) -> _Middle:
        twin = _Middle(self._limit)
        twin.__dict__.update(self.__dict__)
        twin._first = list(self._first)
        twin._latest = deque(self._latest)
        return twin

    def extend(self, lines: Iterable[tuple[int, int, bytes]]) -> None:
        half = self._limit // 2
        for line in lines:
            size = len(line[2])
            if not self._latest and len(self._first) < half and self._first_bytes + size <= _BYTES // 2:
                self._first.append(line)
                self._first_bytes += size
                continue
            self._latest.append(line)
            self._latest_bytes += size
            while len(self._latest) > self._limit - half or self._latest_bytes > _BYTES // 2:
                self._latest_bytes -= len(self._latest.popleft()[2])


def _as_blocks(lines: Iterable[tuple[int, int, bytes]]) -> Iterator[Block]:
    """Lines that were kept one by one, in runs."""
    run: list[tuple[int, int, bytes]] = []
    for line in lines:
        if run and line[0] != run[-1][0] + 1:
            yield _as_block(run)
            run = []
        run.append(line)
    if run:
        yield _as_block(run)


def _as_block(run: Sequence[tuple[int, int, bytes]]) -> Block:
    return Block(
        run[0][0], len(run), b"".join(text + b"\n" for *_, text in run), [number for _, number, _ in run]
    )
