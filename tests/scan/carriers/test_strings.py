from __future__ import annotations

import json

import pytest

from ..logs import LOG, scan_lines, scan_texts


@pytest.mark.parametrize(
    "literal",
    [
        lambda line: f"    {json.dumps(line + chr(10))},",
        lambda line: repr(line.encode() + b"\n"),
        lambda line: repr(line),
    ],
    ids=["notebook", "bytes", "repr"],
)
def test_a_line_in_a_literal(literal) -> None:  # type: ignore[no-untyped-def]
    assert scan_texts([literal(line) for line in LOG]) == LOG


def test_a_literal_may_hold_several_lines_and_colours() -> None:
    lines = [json.dumps("\x1b[31mone\x1b[0m\ntwo")] * 3
    assert scan_lines(lines)[:3] == [(1, "one"), (1, "two"), (2, "one")]


@pytest.mark.parametrize("line", ['"', '"a\\"', "'\\x'", 'b"é"', '"a" and "b"'])
def test_what_is_no_literal_stays(line: str) -> None:
    lines = ['"fine"', '"fine"', '"fine"', line]
    assert scan_texts(lines) == ["fine", "fine", "fine", line]
