from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import FIELDS, KV_CACHE
from vllm_triage.catalog.rule import RemedySpec
from vllm_triage.model import Context
from vllm_triage.remedy.fill import fill_remedies, fill_remedy

SERVED = Context(
    model="demo-org/demo-7b",
    args={"model": "demo-org/demo-7b", "max_model_len": 32768, "enforce_eager": True},
)


def test_the_command_of_the_log_is_corrected() -> None:
    first, second, third = fill_remedies(KV_CACHE, FIELDS, SERVED)

    assert first.set_args == {"max-model-len": 9776}
    assert first.command == "vllm serve demo-org/demo-7b --max-model-len 9776 --enforce-eager"
    assert (
        second.command
        == "vllm serve demo-org/demo-7b --max-model-len 32768 --enforce-eager --kv-cache-dtype fp8"
    )
    assert third.command == "nvidia-smi --format=csv"


def test_a_remedy_without_its_fields_is_left_out() -> None:
    remedies = fill_remedies(KV_CACHE, {}, SERVED)

    assert [remedy.title for remedy in remedies] == ["Quantize the KV cache", "See what else holds the GPU"]


def test_without_the_options_of_the_log_there_is_no_command() -> None:
    remedy = fill_remedies(KV_CACHE, FIELDS, Context(model="demo-org/demo-7b"))[0]

    assert remedy.command is None
    assert remedy.set_args == {"max-model-len": 9776}


def test_options_and_variables_are_taken_away_and_set() -> None:
    spec = RemedySpec(
        "x",
        "safe",
        unset_args=("enforce-eager",),
        set_env={"NCCL_DEBUG": "INFO X"},
        unset_env=("PYTHONPATH",),
    )

    remedy = fill_remedy(spec, {}, SERVED)

    assert remedy is not None
    assert (
        remedy.command
        == "env -u PYTHONPATH NCCL_DEBUG='INFO X' vllm serve demo-org/demo-7b --max-model-len 32768"
    )


def test_an_option_with_no_form_on_a_command_line_makes_no_command() -> None:
    context = SERVED._replace(args={"limits": [{"image": 1}]})

    assert fill_remedies(KV_CACHE, FIELDS, context)[0].command is None


def test_options_of_any_type_are_written_as_vllm_reads_them() -> None:
    args = {
        "a": True,
        "b": False,
        "c": None,
        "d": {"x": 1},
        "e": ["p", "q"],
        "f": "-1",
        "g": "two words",
        "h": 1 << 20_000,
    }

    command = fill_remedies(KV_CACHE, FIELDS, SERVED._replace(args=args))[0].command

    assert command is not None
    assert command.startswith(
        """vllm serve demo-org/demo-7b --a --no-b --d '{"x": 1}' --e p q --f=-1 --g 'two words' --h 0x1000"""
    )


def test_a_key_of_the_log_does_not_come_back_in_a_command() -> None:
    context = SERVED._replace(args={**SERVED.args, "api_key": ["sesame"]})

    assert "sesame" not in fill_remedies(KV_CACHE, FIELDS, context)[0].model_dump_json()


def test_a_destructive_remedy_is_never_first_if_there_is_another() -> None:
    specs = (
        RemedySpec("reset", "destructive", steps=("Reset.",)),
        RemedySpec("restart", "disruptive", steps=("Restart.",)),
    )

    assert [r.title for r in fill_remedies(KV_CACHE._replace(remedies=specs), {}, SERVED)] == [
        "restart",
        "reset",
    ]


@pytest.mark.parametrize(
    "condition, values, kept, why",
    [
        ({"vllm_version": ">=0.8"}, {"vllm_version": "0.11.0"}, True, None),
        ({"vllm_version": ">=0.8"}, {"vllm_version": "0.6.6.post1"}, False, None),
        (
            {"compute_capability": ">=8.9"},
            {},
            True,
            "Only with compute capability >=8.9, which is not known here.",
        ),
        (
            {"vllm_version": ">=0.8"},
            {"vllm_version": "dev"},
            True,
            "Only with vllm version >=0.8, which is not known here.",
        ),
        ({"engine": "v1"}, {"engine": "v0"}, False, None),
    ],
)
def test_conditions(condition: dict[str, str], values: dict[str, str], kept: bool, why: str | None) -> None:
    remedy = fill_remedy(RemedySpec("x", "safe", when=condition, steps=("Do.",)), values, SERVED)

    assert (remedy is not None) is kept
    if remedy:
        assert remedy.why == why


@pytest.mark.parametrize("value", ["a\nb", "a\x00b", "a\x1b[0m", "a\u202eb"])
def test_a_value_with_control_characters_makes_no_command(value: str) -> None:
    remedy = fill_remedy(RemedySpec("x", "safe", command=("ls", "{path}")), {"path": value}, SERVED)

    assert remedy is not None
    assert remedy.command is None
    assert "left out" in remedy.steps[0]


def test_control_characters_in_the_options_make_no_command_either() -> None:
    context = SERVED._replace(args={"chat_template": "a\nb"})

    assert fill_remedies(KV_CACHE, FIELDS, context)[0].command is None


@given(
    st.text(
        st.characters(exclude_categories=["C", "Zl", "Zp", "Zs"], include_characters=" $`\"'\\;&|"),
        min_size=1,
    )
)
def test_a_value_never_becomes_syntax(value: str) -> None:
    remedy = fill_remedy(RemedySpec("x", "safe", command=("ls", "-l", "{path}")), {"path": value}, SERVED)

    assert remedy is not None
    assert remedy.command is not None
    if "[redacted:" not in remedy.command:
        assert shlex.split(remedy.command) == ["ls", "-l", value]


def test_steps_alone_make_no_command_of_an_unchanged_line() -> None:
    remedy = fill_remedy(RemedySpec("x", "safe", steps=("Give the container more memory.",)), {}, SERVED)

    assert remedy is not None
    assert remedy.command is None


def test_a_remedy_that_takes_off_what_was_not_given_is_left_out() -> None:
    spec = RemedySpec("x", "safe", unset_args=("lora-modules",))

    assert fill_remedy(spec, {}, SERVED) is None
    assert fill_remedy(spec, {}, Context(model="demo-org/demo-7b")) is not None


def test_a_remedy_that_sets_what_was_set_already_is_left_out() -> None:
    assert fill_remedy(RemedySpec("x", "safe", set_args={"enforce-eager": True}), {}, SERVED) is None
    assert fill_remedy(RemedySpec("x", "safe", set_args={"max-model-len": 4096}), {}, SERVED) is not None
