from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from vllm_triage.scan.framing import CUT, LINE_HEAD, LINE_TAIL, SLICE, Framer


def _frame(chunks: list[bytes]) -> tuple[bytes, bytes]:
    framer = Framer()
    blocks = b"".join(block for chunk in chunks for block in framer.push(chunk))
    return blocks, framer.rest()


@given(st.lists(st.binary(max_size=20)))
def test_nothing_is_lost_or_moved(chunks: list[bytes]) -> None:
    data = b"".join(chunks)
    whole, rest = _frame(chunks)
    assert whole + rest == data
    assert whole == data[: data.rfind(b"\n") + 1]


def test_a_block_ends_in_a_newline_whatever_the_chunks() -> None:
    framer = Framer()
    data = b"".join(b"line %d\n" % number for number in range(30_000))
    blocks = [block for at in range(0, len(data), 70_001) for block in framer.push(data[at : at + 70_001])]
    assert all(block.endswith(b"\n") for block in blocks)
    assert max(map(len, blocks)) <= 2 * SLICE
    assert b"".join(blocks) == data


def test_of_an_endless_line_head_and_tail_are_kept() -> None:
    line = bytes(random.Random(1).choices(b"abcdef", k=1_000_000))
    rng = random.Random(2)
    cut = sorted(rng.sample(range(len(line)), 30))
    chunks = [line[start:end] for start, end in zip([0, *cut], [*cut, len(line)], strict=True)]
    whole, rest = _frame([*chunks, b"\nnext\n"])
    assert rest == b""
    assert whole == line[:LINE_HEAD] + CUT + (line + b"\n")[-LINE_TAIL:] + b"next\n"


def test_the_carry_stays_small() -> None:
    framer = Framer()
    for _ in range(200):
        assert list(framer.push(b"x" * 50_000)) == []
    assert len(framer.rest()) == LINE_HEAD + len(CUT) + LINE_TAIL
    assert len(framer._carry) < 5 * SLICE
