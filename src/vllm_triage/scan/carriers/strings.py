"""Lines that are string literals: the cells of a notebook file, bytes that a program printed as they are."""

from __future__ import annotations

from collections.abc import Sequence

from vllm_triage.lazy import lazy
from vllm_triage.scan.carriers.layer import Detector, Found
from vllm_triage.scan.lines import NumberedLine, inner_lines

_STRING = lazy(r"""\s*(?P<literal>b?(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')),?\s*$""")


class StringLayer:
    """Reads the string literal that a line is."""

    names = ("string-literals",)
    idle = True

    def push(self, lines: list[NumberedLine]) -> list[NumberedLine]:
        done: list[NumberedLine] = []
        for number, text in lines:
            value = _value(text)
            done += [(number, text)] if value is None else inner_lines(number, value.removesuffix("\n"))
        return done

    def flush(self) -> list[NumberedLine]:
        return []


def _value(line: str) -> str | None:
    import ast
    import json

    found = _STRING.match(line)
    if not found:
        return None
    literal = found["literal"]
    try:
        value = json.loads(literal, strict=False) if literal[0] == '"' else ast.literal_eval(literal)
    except (ValueError, SyntaxError):
        return None
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _strings(sample: Sequence[str]) -> Found | None:
    count = sum(1 for line in sample if _STRING.match(line))
    if count < max(3, 0.3 * len(sample)):
        return None
    return Found(count / len(sample), StringLayer(), _STRING)


DETECTORS: tuple[Detector, ...] = (_strings,)
