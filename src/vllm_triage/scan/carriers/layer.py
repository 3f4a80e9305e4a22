"""The interface of the carriers: what may be undone on a log's lines, and how that is found out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from vllm_triage.lazy import lazy
from vllm_triage.scan.carriers.evidence import PROCESS, STAMP
from vllm_triage.scan.lines import NumberedLine, Printed

_OF_VLLM = lazy(rf"(?i:vllm)|{PROCESS}|{STAMP}")


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
    """Takes off each line what a pattern finds at its start; other lines stay as they are.

    Where the pattern has a group `service`, the lines' numbers say who printed them, and those of `strangers`
    are left out.
    """

    name: str
    pattern: re.Pattern[str]
    strangers: frozenset[str] = frozenset()

    idle = True

    @property
    def names(self) -> Sequence[str]:
        return (self.name,)

    def push(self, lines: list[NumberedLine]) -> list[NumberedLine]:
        match = self.pattern.match
        if "service" not in self.pattern.groupindex:
            return [
                (number, text[found.end() :]) if (found := match(text)) else (number, text)
                for number, text in lines
            ]
        done: list[NumberedLine] = []
        for number, text in lines:
            found = match(text)
            if not found:
                done.append((number, text))
            elif found["service"] not in self.strangers:
                # Who printed a line is said by the outermost carrier.
                by = number if isinstance(number, Printed) else Printed(number, found["service"])
                done.append((by, text[found.end() :]))
        return done

    def flush(self) -> list[NumberedLine]:
        return []


def prefix_found(
    name: str, pattern: re.Pattern[str], share: float, found: Iterable[re.Match[str]] = ()
) -> Found:
    """A carrier that is a prefix of each line; `found` are the prefixes of a sample if they name services."""
    return Found(share, PrefixLayer(name, pattern, _strangers(found)), pattern)


def _strangers(found: Iterable[re.Match[str]]) -> frozenset[str]:
    """The services of which nothing speaks of vLLM, beside others that do: what they say is of no server of ours."""
    speaks: dict[str, bool] = {}
    for match in found:
        if service := match.groupdict().get("service"):
            speaks[service] = speaks.get(service, False) or bool(_OF_VLLM.search(match.string[:400]))
    return (
        frozenset(name for name, does in speaks.items() if not does) if any(speaks.values()) else frozenset()
    )


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
        found = [match for line in sample if (match := self.pattern.match(line))]
        if len(found) < self.at_least or len(found) < self.share * len(sample):
            return None
        return prefix_found(self.name, self.pattern, len(found) / len(sample), found)
