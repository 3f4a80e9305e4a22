"""The interface of the carriers: what may be undone on a log's lines, and how that is found out."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from vllm_triage.scan.lines import NumberedLine


class Layer(Protocol):
    """One carrier at work on a stream of lines. Copied deeply for a snapshot."""

    @property
    def names(self) -> Sequence[str]:
        """The carriers undone so far, for the report."""

    @property
    def idle(self) -> bool:
        """Whether nothing is held back."""

    def push(self, lines: list[NumberedLine]) -> list[NumberedLine]:
        """The lines without the carrier; what may go on in the next line is held back."""

    def flush(self) -> list[NumberedLine]:
        """What was held back."""


class Found(NamedTuple):
    """A carrier that stands on this share (0 to 1) of a sample's lines.

    `layer` undoes it; `pattern` says at a line's start whether it stands there.
    """

    share: float
    layer: Layer
    pattern: re.Pattern[str]


# Looks at the lines of a sample, none of them blank.
Detector = Callable[[Sequence[str]], Found | None]


@dataclass
class PrefixLayer:
    """Takes off each line what a pattern finds at its start; other lines stay as they are."""

    name: str
    pattern: re.Pattern[str]

    idle = True

    @property
    def names(self) -> Sequence[str]:
        return (self.name,)

    def push(self, lines: list[NumberedLine]) -> list[NumberedLine]:
        match = self.pattern.match
        return [
            (number, text[found.end() :]) if (found := match(text)) else (number, text)
            for number, text in lines
        ]

    def flush(self) -> list[NumberedLine]:
        return []


def prefix_found(name: str, pattern: re.Pattern[str], share: float) -> Found:
    """A carrier that is a prefix of each line."""
    return Found(share, PrefixLayer(name, pattern), pattern)


@dataclass(frozen=True)
class Prefix:
    """A carrier that is a prefix of each line: the detector for a `PrefixLayer`.

    It is taken for one only if it stands on `share` of the lines, and on `at_least` lines, so that
    text of a plain log that happens to look like it stays.
    """

    name: str
    pattern: re.Pattern[str]
    share: float = 0.3
    at_least: int = 1

    def __call__(self, sample: Sequence[str]) -> Found | None:
        match = self.pattern.match
        count = sum(1 for line in sample if match(line))
        if count < self.at_least or count < self.share * len(sample):
            return None
        return prefix_found(self.name, self.pattern, count / len(sample))
