"""YAML files: what their values are, where their keys stand, and what is refused."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vllm_triage.catalog import CatalogError
from vllm_triage.catalog.source import Place, read_source


def read(tmp_path: Path, text: str | bytes) -> object:
    path = tmp_path / "rule.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_source(path)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on: [exception]", {"on": ["exception"]}),
        ("a: on", {"a": "on"}),
        ("a: no", {"a": "no"}),
        ("a: true", {"a": True}),
        ("a: ~", {"a": None}),
        ("a:", {"a": None}),
        ("a: 0755", {"a": "0755"}),
        ("a: 12:30", {"a": "12:30"}),
        ("a: 2024-13-45", {"a": "2024-13-45"}),
        ("a: 1_000", {"a": "1_000"}),
        ("a: -3", {"a": -3}),
        ("a: 4.0", {"a": 4.0}),
        ("a: 1e3", {"a": 1000.0}),
        ("a: '5'", {"a": "5"}),
        ("1: a\nnull: b", {"1": "a", "null": "b"}),
        ("\ufeffa: 1", {"a": 1}),
    ],
)
def test_plain_values_are_what_they_look_like(tmp_path: Path, text: str, value: object) -> None:
    assert read(tmp_path, text).data == value  # type: ignore[attr-defined]


def test_places_of_keys_and_values(tmp_path: Path) -> None:
    source = read(tmp_path, "a: 1\nb:\n  - c:  text\n  - [x, y]\n")

    assert source.keys[("b", 0, "c")] == Place(3, 5)  # type: ignore[attr-defined]
    assert source.values[("b", 0, "c")] == Place(3, 9)  # type: ignore[attr-defined]
    assert source.values[("b", 1, 1)] == Place(4, 9)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\nb:\n  c: 1\n  c: 2\n", "4:3: b.c: expected each key once, got it again"),
        ("a: &x 1\nb: *x\n", "2:1: b: expected the value itself, got an alias"),
        ("? [1]\n: 2\n", "1:3: expected a name as key, got a list or mapping"),
        ("", "1:1: expected a rule, got an empty file"),
        ("a: [1", "expected YAML, got: while parsing a flow sequence"),
        ("\ta: 1", "1:1: expected YAML"),
        ("a: 1\n---\nb: 2\n", "2:1: expected YAML, got: expected a single document"),
        ("a: !!python/object:os.system x", "1:4: expected YAML, got: could not determine a constructor"),
        ("a: !!int x", "expected YAML, got: invalid literal for int()"),
        ("a: '\x01'", "expected YAML, got: unacceptable character"),
        (b"ok: 1\na: \xff", "2:1: expected UTF-8, got other bytes"),
        ("[" * 100_000, "1:1"),
        ("a: '" + "x" * (1 << 20) + "'", "1:1: expected at most 1048576 bytes, got more"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str | bytes, said: str) -> None:
    with pytest.raises(CatalogError) as raised:
        read(tmp_path, text)

    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=r"gone\.yaml:1:1: expected a readable file, got: No such file"):
        read_source(tmp_path / "gone.yaml")


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.binary(max_size=80), st.text("ab:-&*?![]{}#|>'\"\n \t%@", max_size=60).map(str.encode)))
def test_no_bytes_raise_anything_else(tmp_path: Path, raw: bytes) -> None:
    with contextlib.suppress(CatalogError):
        read(tmp_path, raw)
