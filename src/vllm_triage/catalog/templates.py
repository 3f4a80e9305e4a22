"""The grammar of templates in rules: `{name}` or `{name:.1f}`, `{{` for a brace, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import Formatter

from vllm_triage.lazy import lazy

_NAME = lazy(r"[a-z_][a-z0-9_]*", re.IGNORECASE)
_FORMAT = lazy(r"(?:,|\.\d|,\.\d)?[dfgs]?")


class TemplateError(ValueError):
    """A template holds more than names."""


def names(template: str) -> frozenset[str]:
    """The names in a template.

    Raises:
        TemplateError: It has an attribute, an index, a conversion, an expression or a stray brace.
    """
    return frozenset(name for _, name, _ in parts(template) if name)


def parts(template: str) -> Iterator[tuple[str, str, str]]:
    """Its pieces: a text and what follows it, a name and how to format the value, or two empty strings.

    Raises:
        TemplateError: As for `names`.
    """
    try:
        parsed = list(Formatter().parse(template))
    except ValueError as error:
        raise TemplateError(f"{template!r}: {error}; write {{{{ for a brace") from None
    for literal, name, form, conversion in parsed:
        if name is None:
            yield literal, "", ""
        elif conversion or not _NAME.fullmatch(name) or not _FORMAT.fullmatch(form or ""):
            raise TemplateError(f"{template!r}: only {{name}} and {{name:.1f}} are known here")
        else:
            yield literal, name, form or ""
