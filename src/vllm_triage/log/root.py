"""Which line of one printed exception says most."""

from __future__ import annotations

from collections.abc import Sequence

from vllm_triage.lazy import lazy
from vllm_triage.model import Line

_VALUE_ERROR = lazy(r"\s*(?:Value error|Assertion failed), ")
_RAISE_ALONE = lazy(r"\s*raise [\w.]+(?:\(\))?(?: from \w+)?\s*$")
_PYDANTIC = lazy(r"\[type=(?P<type>\w+)")
_EXCEPTION = lazy(r"\s*(?:\[?\w+\]?: )?(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|OutOfResources)\b: ?\S")


def root_line(type_: str, message: str, lines: Sequence[Line], source: Line | None) -> Line:
    """The line of an exception that shows its cause.

    `lines[0]` holds the type; the others continue its message. `source` is the source line of the
    last frame, which is all that a bare `AssertionError` has; `raise TimeoutError` says no more than the type.
    """
    first, rest = lines[0], lines[1:]
    if type_.rpartition(".")[2] == "ValidationError" and rest:
        for line in rest:
            if _VALUE_ERROR.match(line.text):
                return line
        for before, line in zip(lines, rest, strict=False):
            if found := _PYDANTIC.search(line.text):
                # For a surplus option the line with its name says more than "Unexpected keyword argument".
                named = (
                    found["type"] in {"unexpected_keyword_argument", "extra_forbidden"}
                    and before is not first
                )
                return before if named else line
    if message.endswith((":", "raised")) or (not message and rest):
        for line in rest:
            if _EXCEPTION.match(line.text):
                return line
    if not message:
        if source is not None and not _RAISE_ALONE.match(source.text):
            return source
        return next((line for line in rest if line.text.strip()), first)
    return first
