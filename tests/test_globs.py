"""The globs of this project are those of the standard library."""

from __future__ import annotations

from fnmatch import fnmatchcase

from hypothesis import example, given
from hypothesis import strategies as st

from vllm_triage.globs import fits


@given(st.text("ab/.\n", max_size=8), st.text("ab/.*?[]!\n", max_size=8))
@example("aba", "ab*ba")
@example("a.py", "*.py")
@example("x", "**")
def test_a_glob_fits_what_fnmatch_says(text: str, glob: str) -> None:
    assert fits(text, glob) == fnmatchcase(text, glob)
