"""Globs of paths and names; most know `*` alone, and one run is too short to compile a regular expression for each."""

from __future__ import annotations

from fnmatch import fnmatchcase


def fits(text: str, glob: str) -> bool:
    """What `fnmatch.fnmatchcase` says."""
    if "?" in glob or "[" in glob:
        return fnmatchcase(text, glob)
    first, *rest = glob.split("*")
    if not rest:
        return text == glob
    if not text.startswith(first):
        return False
    *middle, last = rest
    at = len(first)
    for part in middle:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return text.endswith(last) and len(text) - len(last) >= at
