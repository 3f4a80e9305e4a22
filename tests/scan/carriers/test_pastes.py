from __future__ import annotations

import pytest

from ..logs import CARRIERS, LOG, before_each, scan_texts


@pytest.mark.parametrize("prefix", ["> ", ">", "> > ", ">> "])
def test_quotes(prefix: str) -> None:
    lines = [line for line in LOG if not line.startswith(" ")]
    assert scan_texts(before_each(lambda at: prefix)(lines)) == lines


def test_a_code_block() -> None:
    assert scan_texts(["```text", *LOG, "```"]) == ["", *LOG, ""]


def test_a_code_block_in_a_quote() -> None:
    assert scan_texts(CARRIERS["quote"](["```", *LOG, "```"])) == ["", *LOG, ""]


@pytest.mark.parametrize("indent", ["  ", "    ", "\t"])
def test_indentation_common_to_all_lines(indent: str) -> None:
    lines = [indent + line if line else "" for line in LOG]
    assert scan_texts(lines) == LOG
    assert scan_texts([LOG[0], *lines[1:]]) == LOG


@pytest.mark.parametrize(
    "lines",
    [
        ['  File "/a.py", line 1, in f', "    run()", '  File "/b.py", line 2, in g', "    fail()"],
        ["    source", "    of", "    something"],
        ["Traceback (most recent call last):", *['  File "/a.py", line 1, in f'] * 40, "ValueError: text"],
    ],
)
def test_the_indentation_of_a_traceback_stays(lines: list[str]) -> None:
    assert scan_texts(lines) == lines


def test_lines_of_pytest() -> None:
    lines = [
        ">       import_module('nixl_ep')",
        "E   ImportError: undefined symbol",
        "E       At index 0",
        "E   ",
        *LOG,
    ]
    assert scan_texts(lines)[:4] == [lines[0], "ImportError: undefined symbol", "    At index 0", "E   "]


@pytest.mark.parametrize("separator", [":", "-", "\t", "  "])
def test_line_numbers(separator: str) -> None:
    lines = [line for line in LOG if line and not line.startswith(" ")]
    assert scan_texts(before_each(lambda at: f"{at + 8}{separator}")(lines)) == lines


def test_numbers_that_do_not_rise_are_text() -> None:
    lines = [f"{number}:text" for number in (7, 3, 9, 1, 4, 2, 8)]
    assert scan_texts(lines) == lines
