from __future__ import annotations

import re

import pytest

from vllm_triage.scan.wraps import WrapLayer, find_wraps

from .logs import CARRIERS, LOG, scan_texts

THRICE = LOG * 3
# Colours take no width on a screen.
INSIDE = sorted(set(CARRIERS) - {"buildkite", "colour", "crlf"})


def _wrap(lines: list[str], width: int) -> list[str]:
    return [line[at : at + width] for line in lines for at in range(0, max(len(line), 1), width)]


@pytest.mark.parametrize("width", [60, 72, 80, 100, 120, 132])
def test_wrapped_lines_are_whole_again(width: int) -> None:
    assert scan_texts(_wrap(THRICE, width)) == THRICE


@pytest.mark.parametrize("carrier", INSIDE)
def test_carriers_inside_of_the_wrap(carrier: str) -> None:
    assert scan_texts(_wrap(CARRIERS[carrier](THRICE), 100)) == THRICE


@pytest.mark.parametrize(
    "carrier", ["quote", "indentation", "compose", "cri", "docker-json", "kubectl-timestamps", "crlf"]
)
def test_carriers_outside_of_the_wrap(carrier: str) -> None:
    assert scan_texts(CARRIERS[carrier](_wrap(THRICE, 90))) == THRICE


def test_the_joined_line_has_the_number_of_its_first_part() -> None:
    layer = WrapLayer(4, False, ())
    lines = layer.push([(1, "ab"), (2, "cdef"), (3, "ghij"), (4, "kl"), (5, "mn")])
    assert lines + layer.flush() == [(1, "ab"), (2, "cdefghijkl"), (5, "mn")]


@pytest.mark.parametrize(
    "after",
    [
        "(EngineCore pid=2) INFO",
        "ERROR 11-20 10:00:00 [core.py:1] x",
        '  File "/a/b.py", line 3, in f',
        "Traceback (most recent call last):",
        "ValueError: text",
        "torch.OutOfMemoryError: CUDA out of memory",
        "INFO:     Started server process [1]",
        "vllm-1  | text",
        "",
    ],
)
def test_what_begins_something_is_not_glued_on(after: str) -> None:
    layer = WrapLayer(60, False, [re.compile(r"vllm-1 +\| ")])
    full = "x" * 60
    assert layer.push([(1, full), (2, after)]) + layer.flush() == [(1, full), (2, after)]


def test_lines_of_one_length_are_no_wraps() -> None:
    figures = [
        f"INFO 11-20 10:00:{at:02d} [loggers.py:1] Avg prompt throughput: 0.0 tokens/s" for at in range(60)
    ]
    assert find_wraps(figures, ()) is None


def test_items_of_a_list_are_no_wraps() -> None:
    items = [
        f'  - leaked instance 0x7f8d355{at:05x} of type "triton._C.libtriton.ir.attribute"'
        for at in range(20)
    ]
    assert find_wraps(items, ()) is None


def test_lines_that_a_terminal_padded_are_no_wraps() -> None:
    padded = [line[:80].ljust(80) for line in THRICE if len(line) < 78]
    assert find_wraps(padded, ()) is None


def test_the_joined_line_is_bounded_and_nothing_is_lost() -> None:
    layer = WrapLayer(100, False, ())
    parts = [f"{at:04d}".ljust(100, "x") for at in range(5000)]
    lines = layer.push(list(enumerate(parts))) + layer.flush()
    assert max(len(text) for _, text in lines) < 64 * 1024 + 100
    assert "".join(text for _, text in lines) == "".join(parts)
