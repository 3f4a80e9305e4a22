"""A pattern that is compiled late is the same pattern."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest

import vllm_triage
from vllm_triage.lazy import lazy


def test_it_finds_what_the_compiled_pattern_finds() -> None:
    text, word = "one Two", r"(?P<word>t\w+)"
    late, early = lazy(word, re.IGNORECASE), re.compile(word, re.IGNORECASE)

    match = late.search(text)
    assert match is not None
    assert match["word"] == "Two"
    assert late.sub("x", text) == early.sub("x", text) == "one x"
    assert (late.pattern, late.flags) == (early.pattern, early.flags)


def test_a_broken_pattern_is_told_at_its_first_use() -> None:
    with pytest.raises(re.error):
        lazy("(").search("")


def _modules() -> list[str]:
    found = pkgutil.walk_packages(vllm_triage.__path__, "vllm_triage.")
    return [one.name for one in found if not one.name.endswith("__main__")]


@pytest.mark.parametrize("name", _modules())
def test_every_pattern_of_the_tool_compiles(name: str) -> None:
    module = importlib.import_module(name)
    for value in vars(module).values():
        if type(value) is type(lazy("")):
            assert re.compile(value.pattern, value._flags)
