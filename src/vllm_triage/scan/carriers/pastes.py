"""What people and their tools put before a line: `grep -n`, quotes, indentation, pytest's `E`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from vllm_triage.lazy import lazy
from vllm_triage.scan.carriers.evidence import CARRIED, OPENER
from vllm_triage.scan.carriers.layer import Detector, Found, Prefix, prefix_found

_NUMBERED = lazy(
    r"(?:(?!\d+-)[\w./-]{1,120}\.(?:log|txt|out|err)[:-])?(?: {0,6}(?P<number>\d{1,7})(?:[:-]|\t| {2}(?=\S)))"
)
_OPENS = lazy(rf'(?!File ")(?:{OPENER.pattern}|{CARRIED.pattern})')


def _line_numbers(sample: Sequence[str]) -> Found | None:
    numbers = [int(found["number"]) for line in sample if (found := _NUMBERED.match(line))]
    if len(numbers) < max(3, 0.3 * len(sample)):
        return None
    rising = sum(1 for one, other in pairwise(numbers) if one < other)
    if rising < 0.9 * (len(numbers) - 1):
        return None
    return prefix_found("line-numbers", _NUMBERED, len(numbers) / len(sample))


def _indentation(sample: Sequence[str]) -> Found | None:
    """Blanks before every line (the first may have lost them), if the outermost lines open something."""
    indents = [len(line) - len(line.lstrip(" \t")) for line in sample]
    width = min(indents[1:], default=0)
    if not width or len(sample) < 3:
        return None
    outermost = (line.lstrip() for line, indent in zip(sample, indents, strict=True) if indent == width)
    # Frames are indented by themselves: an excerpt of a traceback may have nothing further out.
    if not any(_OPENS.match(line) for line in outermost):
        return None
    return prefix_found("indentation", lazy(rf"[ \t]{{{width}}}"), 1.0)


ON_ANY_SHARE: tuple[Detector, ...] = (Prefix("pytest", lazy(r"E {3}(?=\s*\S)"), share=0.0),)
DETECTORS: tuple[Detector, ...] = (
    _line_numbers,
    Prefix("quote", lazy(r"(?:> ?)+"), at_least=2),
    _indentation,
    *ON_ANY_SHARE,
)
