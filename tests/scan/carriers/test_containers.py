from __future__ import annotations

import pytest

from ..logs import CARRIERS, LOG, cri_parts, scan_lines, scan_texts

CRI = "2026-05-29T09:14:45.594Z"


def test_parts_of_a_line_are_joined() -> None:
    assert scan_texts(cri_parts(LOG)) == LOG


@pytest.mark.parametrize("outer", ["docker-json", "compose", "kubectl-prefix", "quote"])
def test_parts_are_joined_inside_of_another_carrier(outer: str) -> None:
    assert scan_texts(CARRIERS[outer](cri_parts(LOG))) == LOG


def test_a_joined_line_has_the_number_of_its_first_part() -> None:
    lines = [f"{CRI} stdout P one ", f"{CRI} stdout P two ", f"{CRI} stdout F three", f"{CRI} stderr F next"]
    assert scan_lines(lines) == [(1, "one two three"), (4, "next")]


def test_a_part_that_nothing_follows_is_not_lost() -> None:
    assert scan_lines([f"{CRI} stdout F one", f"{CRI} stdout P two"]) == [(1, "one"), (2, "two")]
    assert scan_lines([f"{CRI} stdout P one", "no carrier"]) == [(1, "one"), (2, "no carrier")]


def test_parts_without_end_are_bounded_and_not_lost() -> None:
    parts = [f"{at:04d}".ljust(1000, "x") for at in range(200)]
    texts = scan_texts([f"{CRI} stdout P {part}" for part in parts])
    assert max(map(len, texts)) < 64 * 1024 + 1000
    assert "".join(texts) == "".join(parts)


def test_an_empty_line_may_have_lost_its_blank() -> None:
    assert scan_texts([f"{CRI} stdout F", f"{CRI} stdout F a"]) == ["", "a"]


def test_services_of_different_width() -> None:
    lines = [line for number in range(4) for line in (f"llm-1    | {number}", f"proxy-12 | GET {number}")]
    assert scan_texts(lines)[:2] == ["0", "GET 0"]


@pytest.mark.parametrize(
    "prefix",
    ["{}-1 | ", "[pod/{}-0/main] ", "Dec 01 09:14:40 host {}[52]: "],
    ids=["compose", "kubectl", "syslog"],
)
def test_services_that_say_nothing_of_vllm_are_left_out_beside_one_that_does(prefix: str) -> None:
    own, other = prefix.format("llm"), prefix.format("webui")
    lines = [line for text in LOG for line in (own + text, other + "INFO:     Application startup complete.")]

    assert scan_texts(lines) == LOG
    assert len(scan_texts([line for line in lines if line.startswith(other)])) == len(LOG)


@pytest.mark.parametrize(
    "lines",
    [
        ["Name | Type | Params", "emb | Embedding | 10", "head | Linear | 20", "norm | LayerNorm | 1"],
        ["vllm-1  | two lines", "vllm-1  | prove nothing"],
        ["  | exception groups", "  | begin like this", "  | File"],
    ],
)
def test_tables_stay(lines: list[str]) -> None:
    assert scan_texts(lines) == lines


def test_the_steps_of_a_docker_build() -> None:
    assert scan_texts([f"#4 {3570.9 + at:.1f} {text}" for at, text in enumerate(LOG)]) == LOG
