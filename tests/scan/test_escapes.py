from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vllm_triage.scan.escapes import holds_escapes, strip_escapes

CLEAN = "(EngineCore_DP0 pid=42) INFO 11-20 10:00:00 [core.py:77] ready"
COLOURED = "{0}[1;36m(EngineCore_DP0 pid=42){0}[0;0m {0}[32mINFO{0}[0m 11-20 10:00:00 {0}[90m[core.py:77]{0}[0m ready"


@pytest.mark.parametrize(
    "escape",
    ["\x1b", "", "^[", "\\x1b", "\\u001b", "\\033", "ESC", "\u241b"],
    ids=["whole", "lost", "cat -v", "repr", "json", "octal", "less", "symbol"],
)
def test_colours_in_every_spelling(escape: str) -> None:
    assert strip_escapes(COLOURED.format(escape)) == CLEAN


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("\x1b[2K\x1b[1A50%", "50%"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;https://a.b\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b_bk;t=1778140988034\x07INFO", "INFO"),
        ("\x1b[38;2;1;2;3mrgb\x1b[m", "rgb"),
        ("\x1b(Bplain", "plain"),
        ("[36mray::Worker.f()[39m (pid=1)", "ray::Worker.f() (pid=1)"),
        ("\x1b", ""),
    ],
)
def test_other_sequences(text: str, clean: str) -> None:
    assert strip_escapes(text) == clean


@pytest.mark.parametrize(
    "text",
    [
        "took [10m30s]",
        "shards [00:02<00:00, 1.5it/s] [core.py:7]",
        "a[1m] = b",
        "path C:\\x1bfoo",
    ],
)
def test_text_that_only_looks_like_it_stays(text: str) -> None:
    assert strip_escapes(text) == text
    assert not holds_escapes(text.encode())


@given(st.lists(st.text(alphabet="\x1b[]0139;m(_\\x\x07 aESC^", max_size=15), min_size=1, max_size=5))
def test_each_line_for_itself(lines: list[str]) -> None:
    whole = "\n".join(lines)
    assert strip_escapes(whole) == "\n".join(map(strip_escapes, lines))
    if not holds_escapes(whole.encode()):
        assert strip_escapes(whole) == whole


@pytest.mark.parametrize(
    "pasted, text",
    [
        ("36m(EngineCore_DP0 pid=820)0m ERROR 01-08", "(EngineCore_DP0 pid=820) ERROR 01-08"),
        ("1;36m(Worker_TP0 pid=1)0;0m text", "(Worker_TP0 pid=1) text"),
        ("36m(A pid=1)(RayWorkerWrapper pid=2) text", "(A pid=1)(RayWorkerWrapper pid=2) text"),
        ("took 36m(about 2000 s)", "took 36m(about 2000 s)"),
    ],
)
def test_colours_that_lost_even_their_bracket(pasted: str, text: str) -> None:
    assert strip_escapes(pasted) == text
