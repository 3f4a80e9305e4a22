"""From any failure to a rule file that is valid and finds that failure."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vllm_triage.catalog.hazards import hazards
from vllm_triage.catalog.load import compile_pack
from vllm_triage.catalog.rule import Rule
from vllm_triage.catalog.skeleton import Failure, skeleton, suggest_pattern


def written(tmp_path: Path, failure: Failure) -> Rule:
    path = tmp_path / "new.yaml"
    path.write_text(skeleton(failure, since="0.1.0"), encoding="utf-8")
    (rule,) = compile_pack(path).rules.values()
    return rule


@pytest.mark.parametrize(
    ("message", "words", "fields"),
    [
        ("No room for 12,288 blocks", "no room for ", {"number": "12,288"}),
        ("Needs 1.5 GiB of 2.25 GiB left", " gib of ", {"amount": "1.5", "amount_2": "2.25"}),
        ("Unknown backend 'FLASH' here", "unknown backend ", {"name": "FLASH"}),
        ("Cannot read /models/demo/config.json: gone", "cannot read ", {"path": "/models/demo/config.json"}),
        ("It isn't there and can't be made", "it isn't there and can't be made", {}),
        ("Kernel (at 0x7f3a) is [bad]", ") is [bad]", {}),
        ("Token [redacted:hub-token] was refused", " was refused", {}),
    ],
)
def test_values_become_groups(message: str, words: str, fields: dict[str, str]) -> None:
    pattern, types = suggest_pattern(message)
    match = re.search(pattern, message, re.IGNORECASE)

    assert match
    assert match[0] == message
    assert match.groupdict() == fields
    assert types.keys() == fields.keys()
    assert words.replace("[", r"\[").replace("]", r"\]").replace(")", r"\)") in pattern.lower()


@given(st.text(max_size=60) | st.lists(st.sampled_from(
    ["'a b'", '"x"', "/a/b.py:", "12,288", "3.5", "0xff", "[redacted:key]", "no", "words", "(", ")", "\\", "{x}", "it's", "é"]
), max_size=40).map(" ".join))  # fmt: skip
def test_a_pattern_fits_its_message_and_has_no_hazards(message: str) -> None:
    pattern, types = suggest_pattern(message)

    assert pattern == "" or re.search(pattern, " ".join(message.split()), re.IGNORECASE)
    assert list(hazards(pattern)) == [] if pattern else types == {}
    assert set(re.compile(pattern).groupindex) == set(types)


def test_a_failure_becomes_a_rule(tmp_path: Path) -> None:
    rule = written(
        tmp_path,
        Failure(
            "vllm.errors.OddError",
            "The gadget 'x' is odd",
            ["before", "OddError: The gadget 'x' is odd"],
            "weights",
        ),
    )

    assert rule.id == "gadget-odd"
    assert rule.phase == "weights"
    assert rule.signatures[0].exception == ("OddError",)
    assert rule.examples[0].log == "before\nOddError: The gadget 'x' is odd\n"
    assert rule.fields.keys() == {"name"}


def test_a_bare_assertion_is_known_by_its_place(tmp_path: Path) -> None:
    rule = written(tmp_path, Failure("AssertionError", "", ["AssertionError"], place="v1/a.py:check"))

    assert rule.signatures[0].raised_in == ("v1/a.py:check",)
    assert rule.id == "assertionerror"


def test_a_message_of_blanks_is_none(tmp_path: Path) -> None:
    assert written(tmp_path, Failure(type=None, message="\t", lines=["x"], place=None))


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.builds(
        Failure,
        type=st.none() | st.from_regex(r"[A-Za-z_.]{0,10}Error", fullmatch=True),
        message=st.text(max_size=40),
        lines=st.lists(
            st.text(max_size=20),
            min_size=1,
            max_size=3,
        ),
        place=st.none() | st.just("a.py:f"),
    )
)
def test_whatever_the_failure_the_file_is_valid(tmp_path: Path, failure: Failure) -> None:
    rule = written(tmp_path, failure)

    assert rule.signatures
