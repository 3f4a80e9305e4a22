from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vllm_triage.scan.block import ScannedLine
from vllm_triage.scan.literals import LiteralIndex
from vllm_triage.scan.window import AFTER, BEFORE, Window

INDEX = LiteralIndex(["hit"])
Regions = tuple[tuple[ScannedLine, ...], ...]


def _log(total: int, *hits: int) -> list[str]:
    marked = set(hits)
    return [f"line {number} hit" if number in marked else f"line {number}" for number in range(1, total + 1)]


def _window(lines: list[str], max_lines: int, block: int = 500) -> Window:
    window = Window(lambda: INDEX, max_lines)
    for at in range(0, len(lines), block):
        part = lines[at : at + block]
        window.add("".join(line + "\n" for line in part).encode(), range(at + 1, at + 1 + len(part)))
    return window


def _regions(window: Window) -> Regions:
    return tuple(tuple(line for block in blocks for line in block.scanned()) for blocks in window.regions())


def _spans(regions: Regions) -> list[tuple[int, int]]:
    return [(region[0].number, region[-1].number) for region in regions]


def _lines(regions: Regions) -> Iterator[ScannedLine]:
    return (line for region in regions for line in region)


def test_everything_is_kept_as_long_as_it_fits() -> None:
    lines = _log(1000)
    (region,) = _regions(_window(lines, 1000, block=7))
    assert region == tuple(ScannedLine(number, text) for number, text in enumerate(lines, 1))


def test_without_candidates_head_and_tail_stay() -> None:
    regions = _regions(_window(_log(50_000), 4000))
    assert _spans(regions) == [(1, 1000), (48_001, 50_000)]


def test_what_surrounds_a_candidate_stays() -> None:
    regions = _regions(_window(_log(50_000, 20_000, 30_000), 4000))
    assert _spans(regions) == [
        (1, 1000),
        (20_000 - BEFORE, 20_000 + AFTER),
        (30_000 - BEFORE, 30_000 + AFTER),
        (48_001, 50_000),
    ]
    assert "line 20000 hit" in [line.text for line in regions[1]]


def test_regions_that_meet_are_one() -> None:
    regions = _regions(_window(_log(50_000, 1050, 1400, 47_950), 4000))
    assert _spans(regions) == [(1, 1110), (1400 - BEFORE, 1400 + AFTER), (47_950 - BEFORE, 50_000)]


def test_a_candidate_at_the_end_of_the_head_keeps_what_follows() -> None:
    regions = _regions(_window(_log(50_000, 1000), 4000))
    assert _spans(regions)[0] == (1, 1000 + AFTER)


def test_of_too_many_candidates_the_first_and_the_last_stay() -> None:
    every = 400  # far enough apart for regions of their own, few enough to count
    regions = _regions(_window(_log(130_000, *range(5000, 5000 + 290 * every, every)), 4000))
    assert _spans(regions)[1] == (4800, 4800 + BEFORE + AFTER)
    assert _spans(regions)[-2][1] == 5000 + 289 * every + AFTER


def test_a_literal_that_stands_everywhere_does_not_hide_a_rare_one() -> None:
    index = LiteralIndex(["common", "rare"])
    window = Window(lambda: index, 4000)
    for number in range(1, 100_001):
        window.add(b"a rare line\n" if number == 50_000 else b"a common line\n", [number])

    assert 50_000 in {line.number for line in _lines(_regions(window))}


@given(
    hits=st.sets(st.integers(1, 600), max_size=6),
    total=st.integers(0, 600),
    max_lines=st.integers(0, 300),
    block=st.integers(1, 700),
)
def test_blocks_do_not_matter_and_the_limit_holds(
    hits: set[int], total: int, max_lines: int, block: int
) -> None:
    lines = _log(total, *hits)
    regions = _regions(_window(lines, max_lines, block))
    assert regions == _regions(_window(lines, max_lines, 1))
    kept = list(_lines(regions))
    assert len(kept) <= max(max_lines, 4)
    assert len(kept) == total or total > max_lines
    assert all(lines[line.number - 1] == line.text for line in kept)
    assert [line.number for line in kept] == sorted({line.number for line in kept})


def test_a_copy_goes_its_own_way() -> None:
    window = _window(_log(3000), 400)
    twin = window.copy()
    twin.add(b"only here\n", [3001])
    assert _regions(twin)[-1][-1] == ScannedLine(3001, "only here")
    window.add(b"only there\n", [3001])
    assert _regions(window)[-1][-1] == ScannedLine(3001, "only there")


@pytest.mark.parametrize("text", ["x", "hit"])
def test_long_lines_are_bounded_in_bytes(text: str) -> None:
    window = Window(lambda: INDEX, 100_000)
    line = (text + "y" * 60_000 + "\n").encode()
    for number in range(1, 3000):
        window.add(line, [number])
    kept = list(_lines(_regions(window)))
    assert 8 << 20 < sum(len(line.text) for line in kept) <= 48 << 20
    assert kept[-1].number == 2999
