"""One YAML file as plain data that knows where each of its keys stands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import yaml

from vllm_triage.catalog.problem import CatalogError, Problem
from vllm_triage.lazy import lazy

KeyPath = tuple[str | int, ...]

_Base: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_BYTES = 1 << 20


class Place(NamedTuple):
    """Line and column, counted from 1."""

    line: int
    column: int


@dataclass(frozen=True)
class Source:
    """The data of a file; `keys` are the places of the keys, `values` those of what they hold.

    `split` are the list items that a comma without a blank parts from the one before, as in
    `[--query=pid,memory]`: two items that were probably meant as one.
    """

    file: Path
    data: Any
    keys: dict[KeyPath, Place]
    values: dict[KeyPath, Place]
    split: frozenset[KeyPath]

    def problem(self, path: KeyPath, message: str, *, at_key: bool = False, check: str = "") -> Problem:
        """A problem at a key, or at the nearest one above it that the file has."""
        known = path
        while known and known not in self.values:
            known = known[:-1]
        place = self.keys[known] if at_key and known in self.keys else self.values.get(known, Place(1, 1))
        return Problem(str(self.file), place.line, place.column, dotted(path), message, check)


def dotted(path: KeyPath) -> str:
    """`signatures[0].pattern`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def read_source(file: Path) -> Source:
    """The one YAML document of a file.

    Raises:
        CatalogError: if the file cannot be read, is no YAML, or holds duplicate keys or aliases.
    """
    text = _text(file)
    walk = _Walk(file)
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            raise CatalogError([walk.problem((), "expected a rule, got an empty file")])
        walk.visit(node, ())
        if walk.problems:
            raise CatalogError(walk.problems)
        return Source(file, loader.construct_document(node), walk.keys, walk.values, frozenset(walk.split))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(mark.line + 1, mark.column + 1) if mark else Place(1, 1)
        words = " ".join(filter(None, (error.context, error.problem)))
        raise CatalogError([Problem(str(file), *place, "", f"expected YAML, got: {words}")]) from None
    except (yaml.YAMLError, ValueError) as error:
        raise CatalogError(
            [Problem(str(file), 1, 1, "", f"expected YAML, got: {_first_line(error)}")]
        ) from None
    except RecursionError:
        raise CatalogError([walk.problem((), "expected a rule, got data nested too deeply")]) from None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _text(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            raw = stream.read(_MAX_BYTES + 1)
    except OSError as error:
        message = f"expected a readable file, got: {error.strerror}"
        raise CatalogError([Problem(str(file), 1, 1, "", message)]) from None
    if len(raw) > _MAX_BYTES:
        raise CatalogError([Problem(str(file), 1, 1, "", f"expected at most {_MAX_BYTES} bytes, got more")])
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise CatalogError([Problem(str(file), line, 1, "", "expected UTF-8, got other bytes")]) from None


class _Loader(_Base):  # type: ignore[misc]
    """YAML 1.2's plain values: `on`, `yes`, `0755`, `12:30` and dates are text, as they look."""

    yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, re.Pattern[str]]]]] = {}


for _tag, _form, _firsts in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", "~nN\0"),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}",
        lazy(rf"(?:{_form})\Z"),
        ["" if first == "\0" else first for first in _firsts],
    )


class _Walk:
    """Collects the places of a node tree, and what no rule file may hold."""

    def __init__(self, file: Path) -> None:
        self.problems: list[Problem] = []
        self.keys: dict[KeyPath, Place] = {}
        self.values: dict[KeyPath, Place] = {}
        self.split: set[KeyPath] = set()
        self._file = file
        self._seen: set[int] = set()

    def problem(self, path: KeyPath, message: str, node: yaml.Node | None = None) -> Problem:
        place = _place(node) if node else Place(1, 1)
        return Problem(str(self._file), *place, dotted(path), message)

    def visit(self, node: yaml.Node, path: KeyPath) -> None:
        self.values[path] = _place(node)
        if id(node) in self._seen:
            # The node is the anchor's; only its key tells where the alias stands.
            place = self.keys.get(path, self.values[path])
            message = "expected the value itself, got an alias"
            self.problems.append(Problem(str(self._file), *place, dotted(path), message))
            return
        self._seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            end: int | None = None
            for at, item in enumerate(node.value):
                if node.flow_style and end is not None and item.start_mark.index == end + 1:
                    self.split.add((*path, at))
                end = item.end_mark.index
                self.visit(item, (*path, at))
        elif isinstance(node, yaml.MappingNode):
            names: set[str] = set()
            for key, value in node.value:
                self._member(key, value, path, names)

    def _member(self, key: yaml.Node, value: yaml.Node, path: KeyPath, names: set[str]) -> None:
        if not isinstance(key, yaml.ScalarNode):
            self.problems.append(self.problem(path, "expected a name as key, got a list or mapping", key))
            return
        # Whatever it looks like, a key is text: `on`, `1`, `null`.
        key.tag = "tag:yaml.org,2002:str"
        below = (*path, key.value)
        if key.value in names:
            self.problems.append(self.problem(below, "expected each key once, got it again", key))
        names.add(key.value)
        self.keys[below] = _place(key)
        self.visit(value, below)


def _place(node: yaml.Node) -> Place:
    return Place(node.start_mark.line + 1, node.start_mark.column + 1)
