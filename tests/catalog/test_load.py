"""Rule files to the catalog: what a good one becomes, and everything that is said about a bad one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vllm_triage.catalog import CatalogError
from vllm_triage.catalog.faults import checked
from vllm_triage.catalog.load import compile_pack
from vllm_triage.catalog.rule import FieldSpec
from vllm_triage.catalog.source import KeyPath, Place, Source

Write = Callable[..., Path]


def problems(path: Path) -> list[str]:
    with pytest.raises(CatalogError) as raised:
        compile_pack(path)
    prefix = f"{path}:"
    lines = str(raised.value).splitlines()
    assert all(line.startswith(prefix) for line in lines)
    return [line.removeprefix(prefix) for line in lines]


def test_a_rule_becomes_frozen_data(write: Write, tmp_path: Path) -> None:
    write()

    rule = compile_pack(tmp_path / "pack").rules["disk-full"]

    signature = rule.signatures[0]
    assert signature.exception == ("OSError",)
    assert signature.on == ("exception", "error")
    assert signature.literals == ("no space left on device:",)
    assert rule.fields["needed_gib"] == FieldSpec("float", "GiB")
    assert rule.remedies[0].command == ("df", "-h", "{path}")
    assert rule.examples[0].fields == {"path": "/models/demo", "needed_gib": 3.5}
    assert [example.matches for example in rule.examples] == [True, False]
    assert rule.path == "host/disk-full.yaml"


def test_every_problem_of_a_file_is_said_at_once_and_where(write: Write) -> None:
    path = write(
        "host/disk-full.yaml",
        ("rank: specific", "rank: special"),
        ("since: 0.1.0\n", ""),
        ("summary:", "sumary:"),
        ("    pattern: 'No", "    vllm: '~8'\n    pattern: '(No"),
        ("on: [exception, error]", "on: [exception, eror]"),
        ("  - title: Make room under {path}\n    risk: safe", "  - title: 3"),
        ("needed_gib: 3.5}", "needed_gib: [3.5]}"),
    )

    assert problems(path) == [
        "1:1: since: expected this key, got nothing",
        "4:7: rank: expected specific, generic, fallback or consequence, got 'special'",
        "8:1: sumary: expected the key summary, got sumary",
        "11:11: signatures[0].vllm: expected a version specifier such as '>=0.8,<0.10', got '~8'",
        "12:14: signatures[0].pattern: expected a regular expression of Python's re "
        "(missing ), unterminated subpattern at position 0), "
        "got \"(No space left on device: '?(?P<path>/[^' ]{1,80}).{0,40...",
        "14:21: signatures[0].on[1]: expected exception, error, plain, warning, info or source, got 'eror'",
        "19:5: remedies[0].risk: expected this key, got nothing",
        "19:12: remedies[0].title: expected text, got 3 (quote it)",
        "26:46: examples[0].fields.needed_gib: expected a whole number or a number or text, got a list",
    ]


def test_the_problems_of_all_files_are_said_at_once(write: Write, tmp_path: Path) -> None:
    first = write("host/a.yaml", ("rank: specific", "rank: special"))
    second = write("host/b.yaml", ("retry: change", "retry: never"))

    with pytest.raises(CatalogError) as raised:
        compile_pack(tmp_path / "pack")

    assert [(problem.file, problem.key) for problem in raised.value.problems] == [
        (str(first), "rank"),
        (str(second), "retry"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "id: disk-full",
            "id: Disk_Full",
            "1:5: id: expected lower-case words joined by dashes, got 'Disk_Full'",
        ),
        ("title: No", "title: The {path} no", "3:8: title: expected one line of text without fields"),
        ("since: 0.1.0", "since: 0.1", "8:8: since: expected text, got 0.1 (quote it)"),
        ("{needed_gib:.1f}", "{needed_gib.real}", "9:10: summary: expected text with {name} or {name:.1f}"),
        ("'{path}']", "'{path']", "21:23: remedies[0].command[2]: expected text with {name}"),
        (
            "    pattern: 'No",
            "    phrase: x\n    pattern: 'No",
            "11:5: signatures[0]: expected exactly one of",
        ),
        (
            "    exception:",
            "    except:",
            "13:5: signatures[0].except: expected the key exception, got except",
        ),
        ("{type: str}", "{type: str, zzz: 1}", "16:21: fields.path.zzz: expected one of the keys type, unit"),
        ("{type: str}", "text", "16:9: fields.path: expected a mapping, got 'text'"),
        ("https://", "ftp://", "23:5: references[0]: expected an address that begins with http"),
        ("matches: false", "matches: no", "30:14: examples[1].matches: expected true or false, got 'no'"),
    ],
)
def test_what_a_key_may_hold(write: Write, old: str, new: str, said: str) -> None:
    path = write("host/disk-full.yaml", (old, new))

    assert any(line.startswith(said) for line in problems(path)), problems(path)


def test_a_signature_needs_something_to_look_for(write: Write) -> None:
    text = "    - {id: a, on: [error]}\n"
    path = write("host/disk-full.yaml", ("signatures:\n", f"signatures:\n{text[2:]}"))

    assert problems(path) == [
        "11:5: signatures[0]: expected exactly one of pattern, phrase, raised_in, got none"
    ]


@pytest.mark.parametrize("pattern", [r"\d+ [a-f]+", "(?:one|.{3})", r"(?=needle)\w+", "(?:optional)?"])
def test_a_pattern_that_would_never_be_looked_at_is_refused(write: Write, pattern: str) -> None:
    text = f"id: x\nsignatures:\n  - id: a\n    pattern: '{pattern}'\n"
    path = write("x.yaml", text=text)

    assert any(
        "4:14: signatures[0].pattern: expected a regular expression with a literal" in one
        for one in problems(path)
    )


def test_two_files_of_a_pack_cannot_have_one_id(write: Write, tmp_path: Path) -> None:
    first = write("host/disk-full.yaml")
    second = write("memory/disk-full.yaml")

    with pytest.raises(CatalogError) as raised:
        compile_pack(tmp_path / "pack")

    assert (
        str(raised.value)
        == f"{second}:1:5: id: expected an id of its own, got that of {first} [duplicate-id]"
    )


def test_a_folder_without_rules_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="expected rule files"):
        compile_pack(tmp_path)
    with pytest.raises(CatalogError, match="got nothing there"):
        compile_pack(tmp_path / "gone")


def test_files_in_hidden_folders_are_no_rules(write: Write, tmp_path: Path) -> None:
    write("host/disk-full.yaml")
    write("..2024/disk-full.yaml")

    assert list(compile_pack(tmp_path / "pack").rules) == ["disk-full"]


_scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
_keys = st.sampled_from(
    [
        "id",
        "signatures",
        "fields",
        "type",
        "remedies",
        "set_args",
        "examples",
        "pattern",
        "with",
        "confirm",
        "on",
        "x",
    ]
)
_data = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_keys, inner, max_size=5),
    max_leaves=25,
)


def _paths(data: object, path: KeyPath) -> Iterator[KeyPath]:
    yield path
    if isinstance(data, (dict, list)):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from _paths(value, (*path, key))


@given(_data)
def test_no_data_makes_the_checks_raise(data: object) -> None:
    places = dict.fromkeys(_paths(data, ()), Place(1, 1))

    rule, found = checked(Source(Path("x.yaml"), data, places, places, frozenset()))

    assert (rule is None) == bool(found)
