"""The text of a line as patterns see it."""

from __future__ import annotations

from vllm_triage.lazy import lazy

MAX_TEXT = 8192
_QUOTES = str.maketrans("“”„‘’\u00a0", '"""\'\' ')
_BLANKS = lazy(r"[ \t]{2,}|\t")


def normalise(text: str) -> str:
    """One blank for a run of blanks, straight quotes for curly ones."""
    return _BLANKS.sub(" ", text.translate(_QUOTES)).strip()


def window(text: str, literals: tuple[str, ...]) -> str:
    """The part of an over-long text around the first literal that it holds."""
    if len(text) <= MAX_TEXT:
        return text
    folded = text.lower()
    at = min((i for i in (folded.find(literal.lower()) for literal in literals) if i >= 0), default=0)
    start = max(0, at - MAX_TEXT // 2)
    return text[start : start + MAX_TEXT]
