from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vllm_triage.scan.lines import UNCLEAN, has_controls, physical_lines, split_returns


def _texts(block: bytes) -> list[str]:
    return [text for _, text in physical_lines(block, 1)]


def test_lines_are_numbered_from_the_first() -> None:
    assert physical_lines(b"a\n\nb\n", 5) == [(5, "a"), (6, ""), (7, "b")]


def test_parts_of_one_line_share_its_number() -> None:
    block = b"Loading: 100%\r(Worker pid=1) INFO ready\nnext\n"
    assert physical_lines(block, 1) == [(1, "Loading: 100%"), (1, "(Worker pid=1) INFO ready"), (2, "next")]


def test_of_a_progress_bar_the_last_parts_are_kept() -> None:
    bar = "\r".join(f"Loading: {share}%|### | {share}/100 [00:01<00:02, 3it/s]" for share in range(101))
    parts = split_returns(f"before\r{bar}\rERROR after")
    assert parts[0] == "before"
    assert [part.split("%")[0] for part in parts[1:-1]] == ["Loading: 98", "Loading: 99", "Loading: 100"]
    assert parts[-1] == "ERROR after"


def test_lines_that_end_in_a_bare_return_are_all_kept() -> None:
    lines = [f"line {number}" for number in range(50)]
    assert split_returns("\r".join(lines) + "\r") == lines


@pytest.mark.parametrize(
    ("block", "texts"),
    [
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"\0\0a\0b\n", ["ab"]),
        (b"\xff\xfe bad\n", ["\ufffd\ufffd bad"]),
        (b"```\n```text\n~\n", ["", "", "~"]),
        (b"```(APIServer pid=1) INFO\nlast```\n", ["(APIServer pid=1) INFO", "last"]),
        (b"a `code` b\n", ["a `code` b"]),
        ("“quoted”\u2028x\x0by\x85\n".encode(), ["“quoted”\u2028x\x0by\x85"]),
    ],
)
def test_what_is_cleaned(block: bytes, texts: list[str]) -> None:
    assert _texts(block) == texts


@given(st.lists(st.text(alphabet='ab\r\0`[0m(\x1b{" \ufffd', max_size=12), min_size=1, max_size=5))
def test_a_plain_block_is_clean_as_it_stands(lines: list[str]) -> None:
    block = "".join(line + "\n" for line in lines).encode()
    if not has_controls(block) and not any(sign.encode() in block for sign in UNCLEAN):
        assert _texts(block) == lines
