"""The catalog as frozen data that round-trips through JSON: no compiled pattern, no pydantic object."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

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


@dataclass(frozen=True, slots=True)
class Signature:
    """One wording or place; see docs/writing-rules.md for what each key means.

    Exactly one of `pattern`, `phrase` and `raised_in` says what is looked for. `literals` is an
    any-of set: every match of `pattern` contains at least one of them, whatever its capitals.
    `wordings` are the clauses of the rule's examples that `pattern` matches, for the fuzzy search.
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
    on: tuple[str, ...] = ("exception", "error", "plain")
    literals: tuple[str, ...] = ()
    wordings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """Type and unit of a named group."""

    type: FieldType = "str"
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class RemedySpec:
    """A remedy before its templates are filled."""

    title: str
    risk: Risk
    why: str | None = None
    when: dict[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    set_args: dict[str, str | int | float | bool] = field(default_factory=dict)
    unset_args: tuple[str, ...] = ()
    set_env: dict[str, str] = field(default_factory=dict)
    unset_env: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Confirm:
    """A check by name, with its arguments."""

    check: str
    with_: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Example:
    """A log the rule carries as its own test."""

    log: str
    matches: bool = True
    fields: dict[str, int | float | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rule:
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
    fields: dict[str, FieldSpec] = field(default_factory=dict)
    derive: dict[str, str] = field(default_factory=dict)
    confirm: tuple[Confirm, ...] = ()
    remedies: tuple[RemedySpec, ...] = ()
    references: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    path: str | None = None


@dataclass(frozen=True)
class Catalog:
    """All rules by id. `replaced` are built-in ids that a user's rule took over."""

    rules: dict[str, Rule]
    version: str
    replaced: tuple[str, ...] = ()
