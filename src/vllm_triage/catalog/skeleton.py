"""The beginning of a rule from a failure that no rule knows: what the log tells is filled in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vllm_triage.catalog.hazards import MIN_LITERAL
from vllm_triage.catalog.literals import required_literals
from vllm_triage.catalog.steady import STEADY
from vllm_triage.lazy import lazy

_MAX_PATTERN = 160
_VALUES = lazy(
    r"(?P<masked>\[redacted:[^\]]*\])"
    r"|(?<!\w)(?P<quote>['\"`])(?P<quoted>[^'\"`]{1,200})(?P=quote)(?!\w)"
    r"|(?P<path>(?:\w{2,8}://|(?<![\w.])\.{0,2}/)[^\s'\",;:()\]]{2,400})"
    r"|(?P<hex>\b0x[0-9a-fA-F]{1,16}\b)"
    r"|(?P<float>(?<![\w.])\d[\d,]*\.\d+(?![\w.]))"
    r"|(?P<int>(?<![\w.])\d[\d,]*(?![\w.]*\w))"
)
_GROUPS = {
    "masked": r"\S{1,200}",
    "hex": r"0x[0-9a-f]{1,16}",
    "quoted": """['"`]?(?P<NAME>[^'"`]{1,200})['"`]?""",
    "path": r"""(?P<NAME>[^\s'",;]{1,400})""",
    "float": r"(?P<NAME>\d[\d,.]{0,20})",
    "int": r"(?P<NAME>\d[\d,]{0,20})",
}
_FIELD_TYPES = {"quoted": "str", "path": "str", "float": "float", "int": "int"}
_FIELD_NAMES = {"quoted": "name", "path": "path", "float": "amount", "int": "number"}
_SMALL_WORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "by",
        "can",
        "could",
        "for",
        "from",
        "get",
        "got",
        "has",
        "have",
        "in",
        "is",
        "it",
        "its",
        "of",
        "on",
        "or",
        "that",
        "the",
        "this",
        "to",
        "was",
        "with",
    ]
)
# What YAML may not hold, or takes for the end of a line.
_UNPRINTABLE = lazy("[^\t\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Failure:
    """What is known about a failure without a rule; all texts are redacted.

    `place` is the `path:function` of vLLM's own raise, `lines` are those around the error.
    """

    type: str | None
    message: str
    lines: Sequence[str]
    phase: str | None = None
    place: str | None = None


def skeleton(failure: Failure, since: str) -> str:
    """The text of a rule file; it is a valid rule, and the lint says what it still lacks."""
    pattern, fields = suggest_pattern(failure.message)
    id_ = _id(failure)
    return "\n".join(
        [
            f"id: {id_}",
            "family: unclassified  # the folder that it goes into",
            f"title: {_quoted(_title(failure))}  # one plain sentence without values",
            "rank: specific",
            f"phase: {failure.phase or 'any'}",
            "retry: change  # change, retry or hardware: would starting again unchanged help?",
            "status: experimental",
            f"since: {since}",
            "signatures:",
            *_signature(failure, pattern),
            *_fields(fields if pattern else {}),
            "remedies:",
            "  - title: Say here what to do",
            "    risk: safe",
            "    steps: [Say here how]",
            "references: []  # at least one: documentation, source or an issue",
            "examples:",
            *_example(failure.lines),
            "  # and a near miss: a log with words like these that means something else, with `matches: false`",
            "",
        ]
    )


def suggest_pattern(message: str) -> tuple[str, dict[str, str]]:
    """A pattern from a message, its values turned into groups, and the types of the groups by name.

    The pattern is empty if the message has too few words of its own.
    """
    pattern, fields = "", {}
    for words, group, name, type_ in _pieces(message):
        if len(pattern) + len(words) + len(group) > _MAX_PATTERN:
            pattern += words[: max(0, _MAX_PATTERN - len(pattern))].rpartition(" ")[0]
            break
        pattern += words + group
        if name:
            fields[name] = type_
    pattern = pattern.strip()
    literals = required_literals(pattern)
    telling = literals and all(len(literal) >= MIN_LITERAL and literal not in STEADY for literal in literals)
    return (pattern, fields) if telling else ("", {})


def _pieces(message: str) -> Iterator[tuple[str, str, str, str]]:
    """Words escaped, then the group that follows them with its name and type (empty if it has none)."""
    end = 0
    counts: dict[str, int] = {}
    text = " ".join(message.split())
    for value in _VALUES.finditer(text):
        kind = next(kind for kind in _GROUPS if value[kind])
        name = ""
        if kind in _FIELD_NAMES:
            counts[kind] = counts.get(kind, 0) + 1
            name = _FIELD_NAMES[kind] + (f"_{counts[kind]}" if counts[kind] > 1 else "")
        words = _escaped(text[end : value.start()])
        yield words, _GROUPS[kind].replace("NAME", name), name, _FIELD_TYPES.get(kind, "")
        end = value.end()
    yield _escaped(text[end:]), "", "", ""


def _escaped(text: str) -> str:
    # What cannot be printed can't be written into the file either; any character may stand there.
    return _UNPRINTABLE.sub(".", re.sub(r"[\\.^$*+?{}\[\]|()]", r"\\\g<0>", text))


def _signature(failure: Failure, pattern: str) -> Iterator[str]:
    if pattern:
        yield "  - id: words"
        yield f"    pattern: {_quoted(pattern)}"
        if failure.type:
            yield f"    exception: [{_quoted(failure.type.rpartition('.')[2])}]"
    elif failure.place:
        yield "  - id: place"
        yield f"    raised_in: [{_quoted(failure.place)}]"
    else:
        yield "  - id: fuzzy"
        yield f"    phrase: {_quoted(failure.message.strip() or failure.type or 'Say here what the log says')}"


def _fields(fields: dict[str, str]) -> Iterator[str]:
    if fields:
        yield "fields:  # give the groups better names and their units"
        for name, type_ in fields.items():
            yield f"  {name}: {{type: {type_}}}"


def _example(lines: Sequence[str]) -> Iterator[str]:
    shown = [_printable(line).rstrip() for line in lines if _printable(line).strip()] or ["Put the log here"]
    # A first line that begins with blanks would be taken for the indentation of all.
    yield "  - log: |2" if shown[0][0].isspace() else "  - log: |"
    for line in shown:
        yield f"      {line}"


def _id(failure: Failure) -> str:
    words = re.findall(r"[a-z]{2,}", _VALUES.sub(" ", failure.message).lower())
    telling = [word for word in words if word not in _SMALL_WORDS][:5]
    id_ = "-".join(telling) or re.sub(r"[^a-z0-9]+", "-", (failure.type or "").lower()).strip("-")
    # YAML reads these as something else than text.
    return f"new-{id_ or 'rule'}" if id_ in {"", "true", "false", "null"} or id_.isdigit() else id_


def _title(failure: Failure) -> str:
    words = re.sub(r"[{}]", "", " ".join(_VALUES.sub("...", failure.message).split()))
    return words[:80].strip() or failure.type or "A failure"


def _quoted(text: str) -> str:
    return "'" + _printable(text).replace("'", "''") + "'"


def _printable(text: str) -> str:
    return _UNPRINTABLE.sub("?", text)
