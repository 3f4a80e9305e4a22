"""A command line with changes made to it; what is not changed stays as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vllm_triage.remedy.apply import Scalar, apply_args

SERVE = ["vllm", "serve", "org/model"]


@pytest.mark.parametrize(
    "words, set_args, unset_args, expected",
    [
        ([], {"port": 8001}, [], ["--port", "8001"]),
        (["--port", "8000", "--seed", "1"], {"port": 8001}, [], ["--port", "8001", "--seed", "1"]),
        (["--port=8000"], {"port": 8001}, [], ["--port", "8001"]),
        (["--max_model_len", "9"], {"max-model-len": 5}, [], ["--max-model-len", "5"]),
        (["-tp", "4", "--x"], {"tensor-parallel-size": 2}, [], ["--tensor-parallel-size", "2", "--x"]),
        (["--enforce-eager"], {"enforce-eager": True}, [], ["--enforce-eager"]),
        (["--enable-lora"], {"enable-lora": False}, [], ["--no-enable-lora"]),
        (["--swap-space", "4", "--x", "1"], {}, ["swap-space"], ["--x", "1"]),
        (["--lora-modules", "a=1", "b=2", "--x"], {}, ["lora-modules"], ["--x"]),
        (["--x", "1", "--x", "2"], {"x": 3}, [], ["--x", "3"]),
        (["--seed", "-1", "--x"], {}, ["seed"], ["--x"]),
        ([], {"seed": -1}, [], ["--seed=-1"]),
    ],
)
def test_changes(
    words: list[str], set_args: dict[str, Scalar], unset_args: list[str], expected: list[str]
) -> None:
    assert apply_args([*SERVE, *words], set_args, unset_args, "org/model") == [*SERVE, *expected]


def test_the_model_after_a_flag_is_not_its_value() -> None:
    assert apply_args(["vllm", "serve", "--enforce-eager", "m"], {}, ["enforce-eager"], "m") == [
        "vllm",
        "serve",
        "m",
    ]


WORDS = st.lists(st.sampled_from(["--a", "--b", "--c=1", "x", "-1", "'; rm"]), max_size=8)


@given(words=WORDS)
def test_what_is_not_named_is_not_touched(words: list[str]) -> None:
    assert apply_args(words, {}, ["zzz"]) == words


@given(words=WORDS, value=st.sampled_from(["5", "-5", "a b"]))
def test_setting_twice_changes_nothing_more(words: list[str], value: str) -> None:
    once = apply_args(words, {"a": value}, ["b"])

    assert apply_args(once, {"a": value}, ["b"]) == once
    assert sum(word.startswith("--a") for word in once) == 1
