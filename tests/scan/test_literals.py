from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Thread
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vllm_triage.scan import LiteralIndex

Engine = Literal["hyperscan", "re"]
ENGINES: tuple[Engine, ...] = ("hyperscan", "re")

# Few letters, so that literals overlap, begin and end with each other; some have no ASCII lower case.
_text = st.text(alphabet="abAB .Éé’K\u017f\ud800", max_size=30)
_literals = st.lists(_text.filter(bool), max_size=8)


def _fold(text: str) -> str:
    return "".join(chr(ord(char) + 32) if "A" <= char <= "Z" else char for char in text)


def _naive(literals: Sequence[str], lines: Sequence[str]) -> dict[int, set[int]]:
    found = {
        row: {index for index, literal in enumerate(literals) if _fold(literal) in _fold(line)}
        for row, line in enumerate(lines)
    }
    return {row: indexes for row, indexes in found.items() if indexes}


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param == "hyperscan":
        pytest.importorskip("hyperscan")
    return request.param  # type: ignore[no-any-return]


@given(literals=_literals, lines=st.lists(_text, max_size=6))
@pytest.mark.parametrize("engine", ENGINES)
def test_lines_with_is_what_the_naive_loop_finds(
    engine: Engine, literals: list[str], lines: list[str]
) -> None:
    if engine == "hyperscan":
        pytest.importorskip("hyperscan")
    assert LiteralIndex(literals, engine=engine).lines_with(lines) == _naive(literals, lines)


@given(literals=_literals, text=_text)
@pytest.mark.parametrize("engine", ENGINES)
def test_find_gives_every_occurrence_with_its_end(engine: Engine, literals: list[str], text: str) -> None:
    if engine == "hyperscan":
        pytest.importorskip("hyperscan")
    haystack = text.encode("utf-8", "surrogatepass").lower()
    expected = set()
    for index, literal in enumerate(literals):
        needle = literal.encode("utf-8", "surrogatepass").lower()
        starts = range(len(haystack) - len(needle) + 1)
        expected |= {(index, at + len(needle)) for at in starts if haystack.startswith(needle, at)}
    assert set(LiteralIndex(literals, engine=engine).find(text)) == expected


def test_a_literal_inside_another_is_found_too(engine: Engine) -> None:
    index = LiteralIndex(["CUDA out of memory", "out of memory", "memory"], engine=engine)
    assert index.lines_with(["x", "torch: cuda OUT of memory."]) == {1: {0, 1, 2}}


def test_bytes_are_searched_as_they_are(engine: Engine) -> None:
    index = LiteralIndex(["error"], engine=engine)
    assert list(index.find(b"\xff\xfe ERROR")) == [(0, 8)]


def test_no_literals_find_nothing(engine: Engine) -> None:
    index = LiteralIndex([], engine=engine)
    assert list(index.find("text")) == []
    assert index.lines_with(["text"]) == {}


@pytest.mark.parametrize("literal", ["", "a\nb"])
def test_a_literal_is_one_line(literal: str) -> None:
    with pytest.raises(ValueError, match="one non-empty line"):
        LiteralIndex(["fine", literal])


def test_without_hyperscan_the_trie_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hyperscan", None)
    assert LiteralIndex(["a"]).engine == "re"
    with pytest.raises(ImportError):
        LiteralIndex(["a"], engine="hyperscan")


def test_one_index_serves_several_threads(engine: Engine) -> None:
    index = LiteralIndex(["needle", "other"], engine=engine)
    text = "hay " * 5000 + "needle"
    wrong: list[object] = []

    def search() -> None:
        for _ in range(50):
            found = list(index.find(text))
            if found != [(0, len(text))]:
                wrong.append(found)

    threads = [Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which the index of a catalog is kept."""
    pytest.importorskip("hyperscan")
    monkeypatch.setenv("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "vllm-triage" / "literals.hyperscan"


MANY = [f"literal {number:04}" for number in range(600)]


def test_the_index_of_a_catalog_is_kept_and_read_again(kept: Path) -> None:
    LiteralIndex(MANY)
    written = kept.stat().st_mtime_ns
    again = LiteralIndex(MANY)

    assert again.lines_with(["a Literal 0007"]) == {0: {7}}
    assert kept.stat().st_mtime_ns == written


def test_what_was_kept_for_other_literals_is_not_taken(kept: Path) -> None:
    LiteralIndex(MANY)

    assert LiteralIndex(list(reversed(MANY))).lines_with(["literal 0007"]) == {0: {592}}


def test_what_is_left_of_a_catalog_does_not_take_its_place(kept: Path) -> None:
    index = LiteralIndex(MANY)
    whole = kept.read_bytes()
    left = index.without({7})

    assert left.lines_with(["literal 0007, literal 0008"]) == {0: {8}}
    assert index.without({8}).lines_with(["literal 0007, literal 0008"]) == {0: {7}}
    assert kept.read_bytes() == whole


@pytest.mark.parametrize("damage", [b"", b"no database", b"\0" * 5000])
def test_a_damaged_index_is_made_again(kept: Path, damage: bytes) -> None:
    LiteralIndex(MANY)
    key, _, whole = kept.read_bytes().partition(b"\n")
    kept.write_bytes(key + b"\n" + damage)

    assert LiteralIndex(MANY).lines_with(["literal 0007"]) == {0: {7}}
    assert kept.read_bytes().partition(b"\n")[2] == whole
