"""Every match of a pattern holds one of the literals derived from it."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vllm_triage.catalog.literals import required_literals

PATTERNS = [
    r"To serve at least one request with the models?'?s? max seq len \((?P<n>\d+)\).{0,4}?(?P<g>[\d.]+) ?GiB",
    r"CUDA (?:error|failure): (?:out of memory|invalid device ordinal)",
    r"(?:Cannot|Can't|Can not) find (?P<what>\S{1,20}) in",
    r"lib(?P<lib>cudnn|nccl|cublas)[\w.]{0,20}: cannot open shared object file",
    r"(?:abc|abcdef) is (?:not )?there",
    r"(?-i:Killed)\b",
    r"(?:retry ){2,3}later",
    r"(?:x|yy){1,2}tail",
    r"ab+c{1}d",
    r"no[- _]?gap(?=here)here",
    r"^Address already in use$",
    r"[Ee]rror[Cc]ode [0-9]",
    r"é?caf[eé] closed",
    r"(?P<q>['\"])quoted(?P=q) text",
    r"foo(?!bar)[a-z]{3}baz",
    r"(?:needle)?hay(?:(?:one|two)-){1,2}end",
]


@pytest.mark.parametrize("pattern", PATTERNS)
@settings(max_examples=60)
@given(data=st.data())
def test_every_match_contains_a_literal(pattern: str, data: st.DataObject) -> None:
    literals = required_literals(pattern)
    text = data.draw(
        st.from_regex(
            re.compile(pattern, re.IGNORECASE),
            alphabet=st.characters(codec="latin-1", exclude_characters="\n"),
        )
    )

    assert literals
    assert any(literal in text.lower() for literal in literals)


_words = st.text(string.ascii_letters + " -:", min_size=1, max_size=6).map(re.escape)
_patterns = st.recursive(
    _words | st.sampled_from([".", r"\d", "[a-c]", r"\b", "[Qq]"]),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        st.builds(
            lambda part, times: f"(?:{part}){times}",
            inner,
            st.sampled_from(["?", "*", "+", "{0,2}", "{1,2}", "{2}"]),
        ),
        inner.map(lambda part: f"({part})"),
        inner.map(lambda part: f"(?-i:{part})"),
    ),
    max_leaves=8,
)


@settings(max_examples=150)
@given(pattern=_patterns, data=st.data())
def test_it_holds_for_any_pattern(pattern: str, data: st.DataObject) -> None:
    literals = required_literals(pattern)
    text = data.draw(st.from_regex(re.compile(pattern, re.IGNORECASE), alphabet=st.characters(codec="ascii")))
    match = re.search(pattern, text, re.IGNORECASE)

    assert match
    assert not literals or any(literal in match[0].lower() for literal in literals)


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        ("abc.{0,9}longest part.{0,9}xyz", {"longest part"}),
        ("(?:first|second) words", {"words"}),
        ("(?:first thing|second thing) ok", {"first thing", "second thing"}),
        ("error: zygote", {"error: zygote"}),
        ("runtime error.{0,9}quux42", {"quux42"}),
        ("in (?P<name>the group) too", {"in the group too"}),
        ("(?:foobar|foo)+ x", {"foo"}),
        ("[Tt]he End", {"the end"}),
        ("caf\u00e9 closed", {"closed"}),
        ("  padded  ", {"padded"}),
        (r"\d+", set()),
        ("(?:one|.)", set()),
        ("(?:maybe)?", set()),
        ("(?=ahead).", set()),
        ("(a)?(?(1)yes|no)", set()),
    ],
)
def test_the_best_part_is_taken(pattern: str, literals: set[str]) -> None:
    assert set(required_literals(pattern)) == literals
