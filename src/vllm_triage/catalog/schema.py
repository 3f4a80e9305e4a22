"""What a rule file may hold, as docs/writing-rules.md explains it; unknown keys are refused."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from vllm_triage.catalog.rule import FieldType, Phase, Rank, Retry, Risk
from vllm_triage.catalog.templates import TemplateError, names

_ID = r"^[a-z0-9]+(-[a-z0-9]+)*$"
_NAME = r"^[a-z_][a-z0-9_]*$"
_RELEASE = r"^\d+\.\d+\.\d+$"
_ADDRESS = r"^https?://\S+$"
_SENTENCE = r"^[^{}\n]*[^{}\s][^{}\n]*$"
_OPTION = r"^[A-Za-z0-9][\w.-]*$"
_VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"
_TEXT = r"\S"

# The same in words, for messages.
SHAPES = {
    _ID: "lower-case words joined by dashes",
    _NAME: "a lower-case name",
    _RELEASE: "a release such as '0.1.0'",
    _ADDRESS: "an address that begins with http",
    _SENTENCE: "one line of text without fields",
    _OPTION: "an option's name without its dashes",
    _VARIABLE: "a variable's name",
    _TEXT: "text",
}

Id = Annotated[str, StringConstraints(pattern=_ID)]
Name = Annotated[str, StringConstraints(pattern=_NAME)]
Option = Annotated[str, StringConstraints(pattern=_OPTION)]
Variable = Annotated[str, StringConstraints(pattern=_VARIABLE)]
Text = Annotated[str, StringConstraints(pattern=_TEXT)]
LineKind = Literal["exception", "error", "plain", "warning", "info", "source"]


def _pattern(text: str) -> str:
    from vllm_triage.catalog.literals import required_literals

    try:
        literals = required_literals(text)
        re.compile(text, re.IGNORECASE)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"a regular expression of Python's re ({error})") from None
    # The candidate lines are found by these, so a pattern without one would never be looked at.
    if not literals:
        raise ValueError("a regular expression with a literal that every match contains")
    import regex

    try:
        regex.compile(text, regex.IGNORECASE)
    except regex.error as error:
        raise ValueError(f"a regular expression that re and regex share ({error})") from None
    return text


def _template(text: str) -> str:
    try:
        names(text)
    except TemplateError:
        raise ValueError("text with {name} or {name:.1f} in it, a brace of its own written twice") from None
    return text


def _specifier(text: str) -> str:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        raise ValueError("a version specifier such as '>=0.8,<0.10'") from None
    return text


Template = Annotated[str, AfterValidator(_template)]
Sentence = Annotated[Text, AfterValidator(_template)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class SignatureFile(_Part):
    """One wording or place; exactly one of pattern, phrase and raised_in."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": [key]} for key in ("pattern", "phrase", "raised_in")]}
    )

    id: Id = Field(description="Stable within the rule; shown with the evidence.")
    vllm: Annotated[str, AfterValidator(_specifier)] | None = Field(
        None, description="Version specifier of the releases whose wording it is."
    )
    pattern: Annotated[str, AfterValidator(_pattern)] | None = Field(
        None, description="A regular expression, searched in one line whatever its capitals."
    )
    phrase: Text | None = Field(None, description="A wording to be matched fuzzily.")
    raised_in: list[Text] = Field([], description="path:function globs of vLLM's own raise.")
    exception: list[Text] = Field([], description="Globs of the exception's type, without its module.")
    frames: list[Text] = Field([], description="path:function globs; a frame must match one.")
    not_frames: list[Text] = Field([], description="path:function globs; no frame may match one.")
    phases: list[Phase] = Field([], description="The failure happened in one of these phases.")
    hint: bool = Field(False, description="The words suggest the cause and do not prove it.")
    on: list[LineKind] = Field(
        ["exception", "error", "plain"], min_length=1, description="The kinds of line to look at."
    )


class FieldFile(_Part):
    """Type and unit of a named group."""

    type: FieldType
    unit: Text | None = None


class ConfirmFile(_Part):
    """A check of the host by name."""

    check: Id
    with_: dict[str, Any] = Field({}, alias="with", description="The check's arguments.")


class RemedyFile(_Part):
    """What to do about it."""

    title: Sentence
    risk: Risk
    why: Sentence | None = None
    when: dict[Name, Text] = Field({}, description="Conditions on the host or the log, as specifiers.")
    command: list[Template] = Field([], description="A command line, one part an item.")
    steps: list[Sentence] = Field([], description="Plain sentences.")
    set_args: dict[Option, Template | int | float | bool] = Field(
        {}, description="Options of vllm serve without dashes; true for a flag."
    )
    unset_args: list[Option] = []
    set_env: dict[Variable, Template] = {}
    unset_env: list[Variable] = []


class ExampleFile(_Part):
    """A log that must give the rule, or with `matches: false` one that must not."""

    log: Text
    matches: bool = True
    fields: dict[Name, int | float | str] = Field({}, description="Fields that must be found.")


class RuleFile(_Part):
    """A rule of vllm-triage."""

    id: Id = Field(description="The file's stem; it never changes its meaning once released.")
    family: Id = Field(description="The file's folder.")
    title: Annotated[str, StringConstraints(pattern=_SENTENCE)] = Field(description="One plain sentence.")
    rank: Rank
    phase: Phase | Literal["any"]
    retry: Retry = Field(description="Would starting again unchanged help?")
    status: Literal["experimental", "stable"]
    since: Annotated[str, StringConstraints(pattern=_RELEASE)]
    summary: Sentence | None = Field(None, description="What happened, with {field} in it.")
    beats: list[Id] = Field([], description="Rules this one wins over.")
    signatures: list[SignatureFile] = Field(min_length=1)
    fields: dict[Name, FieldFile] = {}
    derive: dict[Name, Id] = Field({}, description="Values computed by named functions.")
    confirm: list[ConfirmFile] = []
    remedies: list[RemedyFile] = Field([], description="Best first; two or three.")
    references: list[Annotated[str, StringConstraints(pattern=_ADDRESS)]] = []
    examples: list[ExampleFile] = []


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a rule file, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **RuleFile.model_json_schema(),
        "title": "A rule of vllm-triage",
    }
