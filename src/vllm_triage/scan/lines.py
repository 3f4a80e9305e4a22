"""Blocks of bytes -> physical lines of text without escapes, NUL bytes, overwritten parts and code fences."""

from __future__ import annotations

from vllm_triage.lazy import lazy
from vllm_triage.scan.escapes import RESETS, strip_escapes

# (number, text): `number` counts newlines of the input from 1; parts of one line share it.
NumberedLine = tuple[int, str]


class Printed(int):
    """The number of a line for which a carrier says which of several services printed it."""

    service: str

    def __new__(cls, number: int, service: str) -> Printed:
        made = super().__new__(cls, number)
        made.service = service
        return made

    def __deepcopy__(self, memo: object) -> Printed:
        return self  # as any number is its own copy


_FENCE = "```"
# What a line with JSON, with a fence or with a lost escape may hold, besides the bytes of `has_controls`.
UNCLEAN = ('{"', _FENCE, "m(", *RESETS)
_FENCE_LINE = lazy(r"\s*```[\w+-]{0,20}\s*$")
_PROGRESS = lazy(r"\d ?%|\d/\d+ \[|it/s|s/it|B/s")
_BAR_PARTS = 3


def has_controls(block: bytes) -> bool:
    """Whether a block holds bytes that `physical_lines` may take out.

    One with none of them and nothing of `UNCLEAN` is clean as it stands.
    """
    return b"\x1b" in block or b"\r" in block or b"\0" in block


def physical_lines(block: bytes, first: int) -> list[NumberedLine]:
    """The lines of a block that ends in a newline; `first` is the number of its first line."""
    text = block.decode("utf-8", "replace")
    if "\0" in text:
        text = text.replace("\0", "")
    text = strip_escapes(text)
    lines = enumerate(text[:-1].split("\n"), first)
    if "\r" not in text and _FENCE not in text:
        return list(lines)
    return [(number, _without_fence(part)) for number, line in lines for part in split_returns(line)]


def split_returns(line: str) -> list[str]:
    """The parts of a line that were written over each other; of a progress bar only the last few."""
    line = line.removesuffix("\r")
    if "\r" not in line:
        return [line]
    parts: list[str] = []
    bar = 0
    for part in line.split("\r"):
        if not part.strip():
            continue
        bar = bar + 1 if _PROGRESS.search(part) else 0
        if bar > _BAR_PARTS:
            del parts[-_BAR_PARTS]
        parts.append(part)
    return parts or [""]


def inner_lines(number: int, text: str) -> list[NumberedLine]:
    """The lines of a text that stood, with its line ends and escapes spelled out, in one line of the input."""
    text = strip_escapes(text.replace("\0", ""))
    return [(number, part) for line in text.split("\n") for part in split_returns(line)]


def _without_fence(text: str) -> str:
    """Take the marks of a Markdown code block off a line; a line of nothing else becomes empty."""
    if _FENCE not in text:
        return text
    if _FENCE_LINE.match(text):
        return ""
    return text.removeprefix(_FENCE).removesuffix(_FENCE)
