"""Which lines of a long log are parsed."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from vllm_triage.scan.block import Block, ScannedLine
from vllm_triage.scan.focus import focus
from vllm_triage.scan.literals import LiteralIndex
from vllm_triage.scan.window import AFTER, BEFORE, MAX_HITS

INDEX = LiteralIndex(["Traceback", "common"])


def log(size: int, *special: tuple[int, str]) -> list[list[Block]]:
    """One region, in blocks of up to 70 lines."""
    texts = dict(special)
    lines = [f"{texts.get(number, 'boring')}\n".encode() for number in range(1, size + 1)]
    return [
        [
            Block(at, len(part), b"".join(part), range(at + 1, at + 1 + len(part)))
            for at in range(0, size, 70)
            for part in [lines[at : at + 70]]
        ]
    ]


def kept(regions: list[list[Block]]) -> set[int]:
    return {line.number for region in focus(regions, lambda: INDEX) for line in region}


def test_a_short_log_is_parsed_as_a_whole() -> None:
    (region,) = focus(log(1500), lambda: INDEX)

    assert region == tuple(ScannedLine(number, "boring") for number in range(1, 1501))


def test_of_a_long_log_head_tail_and_what_surrounds_a_candidate() -> None:
    numbers = kept(log(20_000, (9000, "Traceback (most recent call last)")))

    assert set(range(1, 301)) <= numbers
    assert set(range(19_501, 20_001)) <= numbers
    assert set(range(9000 - BEFORE, 9000 + AFTER + 1)) <= numbers
    assert len(numbers) == 300 + 500 + BEFORE + AFTER + 1


def test_what_every_line_holds_says_nothing_but_where_it_begins_and_ends() -> None:
    numbers = kept(log(20_000, *((number, "common") for number in range(5000, 5000 + MAX_HITS + 1))))

    assert 5000 in numbers
    assert 5000 + MAX_HITS in numbers
    assert len(numbers) <= 800 + 2 * (BEFORE + AFTER + 1)


@given(places=st.lists(st.integers(1, 8000), max_size=20))
def test_no_candidate_is_lost_and_the_order_stays(places: list[int]) -> None:
    regions = focus(log(8000, *((place, "Traceback") for place in places)), lambda: INDEX)
    numbers = [line.number for region in regions for line in region]

    assert set(places) <= set(numbers)
    assert numbers == sorted(set(numbers))
    assert all(b.number == a.number + 1 for region in regions for a, b in pairwise(region))
