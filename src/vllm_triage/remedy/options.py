"""Which release of vLLM knows which option of `vllm serve`: made by tools/options_by_release.py from released sources."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

_ALIKE = 0.75


@cache
def _table() -> tuple[tuple[str, ...], dict[str, tuple[str, str]]]:
    """The releases looked at, and for each option the first and last of them that have it."""
    text = (Path(__file__).parent / "options.json").read_text(encoding="utf-8")
    content = json.loads(text)
    return tuple(content["releases"]), {
        name: (first, last) for name, (first, last) in content["options"].items()
    }


def last_release(option: str) -> str | None:
    """The last release looked at that has an option, for one that newer releases lack; None otherwise."""
    releases, options = _table()
    span = options.get(_name(option))
    return span[1] if span and span[1] != releases[-1] else None


def first_release(option: str) -> str | None:
    """The first release looked at that has an option, for one that older releases lack; None otherwise."""
    releases, options = _table()
    span = options.get(_name(option))
    return span[0] if span and span[0] != releases[0] else None


def nearest(option: str, release: str | None) -> str | None:
    """The option of a release (the newest if None) whose name is nearest to one that it does not know."""
    from difflib import get_close_matches

    releases, options = _table()
    wanted = _name(option)
    known = [name for name, span in options.items() if name != wanted and _has(span, release or releases[-1])]
    return next(iter(get_close_matches(wanted, known, n=1, cutoff=_ALIKE)), None)


def _has(span: tuple[str, str], release: str) -> bool:
    from packaging.version import InvalidVersion, Version

    try:
        return Version(span[0]) <= Version(release.partition("+")[0]) <= Version(span[1])
    except InvalidVersion:
        return span[1] == _table()[0][-1]


def _name(option: str) -> str:
    return option.lstrip("-").partition("=")[0].replace("_", "-")
