"""The catalog as frozen data that round-trips through JSON: no compiled pattern, no pydantic object."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

_NOTHING: Mapping[str, Any] = MappingProxyType({})

Rank = Literal["specific", "generic", "fallback", "consequence"]
Retry = Literal["change", "retry", "hardware"]
Risk = Literal["safe", "disruptive", "destructive"]
FieldType = Literal["int", "float", "str"]
Phase = Literal[
    "install",
    "import",
    "arguments",
    "config",
    "distributed",
    "download",
    "weights",
    "compile",
    "profile",
    "kv-cache",
    "graph-capture",
    "warm-up",
    "api",
    "serving",
]


class Signature(NamedTuple):
    """One wording or place; see docs/writing-rules.md for what each key means.

    Exactly one of `pattern`, `phrase` and `raised_in` says what is looked for. `literals` is an
    any-of set: every match of `pattern` contains at least one of them, whatever its capitals.
    `wordings` are the clauses of the rule's examples that `pattern` matches, for the fuzzy search.
    `hint` says that the words suggest the cause and do not prove it.
    """

    id: str
    vllm: str | None = None
    pattern: str | None = None
    phrase: str | None = None
    raised_in: tuple[str, ...] = ()
    exception: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    not_frames: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()
    hint: bool = False
    on: tuple[str, ...] = ("exception", "error", "plain")
    literals: tuple[str, ...] = ()
    wordings: tuple[str, ...] = ()


class FieldSpec(NamedTuple):
    """Type and unit of a named group."""

    type: FieldType = "str"
    unit: str | None = None


class RemedySpec(NamedTuple):
    """A remedy before its templates are filled."""

    title: str
    risk: Risk
    why: str | None = None
    when: Mapping[str, str] = _NOTHING
    command: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    set_args: Mapping[str, str | int | float | bool] = _NOTHING
    unset_args: tuple[str, ...] = ()
    set_env: Mapping[str, str] = _NOTHING
    unset_env: tuple[str, ...] = ()


class Confirm(NamedTuple):
    """A check by name, with its arguments."""

    check: str
    with_: Mapping[str, Any] = _NOTHING


class Example(NamedTuple):
    """A log the rule carries as its own test."""

    log: str
    matches: bool = True
    fields: Mapping[str, int | float | str] = _NOTHING


class Rule(NamedTuple):
    """One cause (or, with rank "consequence", one follow-up text)."""

    id: str
    family: str
    title: str
    rank: Rank
    phase: str
    retry: Retry
    status: Literal["experimental", "stable"]
    since: str
    signatures: tuple[Signature, ...]
    summary: str | None = None
    beats: tuple[str, ...] = ()
    fields: Mapping[str, FieldSpec] = _NOTHING
    derive: Mapping[str, str] = _NOTHING
    confirm: tuple[Confirm, ...] = ()
    remedies: tuple[RemedySpec, ...] = ()
    references: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    path: str | None = None


class Catalog(NamedTuple):
    """All rules by id. `replaced` are built-in ids that a user's rule took over."""

    rules: dict[str, Rule]
    version: str
    replaced: tuple[str, ...] = ()
