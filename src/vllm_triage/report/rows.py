"""Rows of styled text, wrapped to a width: what the view for people is made of."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Literal

Style = Literal["", "headline", "title", "place", "proof", "command", "faint", "good"]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of output in one style."""

    text: str = ""
    style: Style = ""


def prose(
    text: str, width: int, style: Style = "", indent: str = "", lead: str = "", most: int = 1_000
) -> list[Row]:
    """Wrapped text; what does not fit into `most` rows is cut with "...".

    Args:
        indent: Before every row.
        lead: Before the first row instead, after the indentation; the others are aligned with it.
    """
    first, rest = indent + lead, indent + " " * len(lead)
    lines = textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=rest,
        max_lines=most,
        placeholder=" ...",
        break_on_hyphens=False,
    )
    return [Row(line, style) for line in lines]


def quoted(text: str, width: int, bar: str, most: int) -> list[Row]:
    """A line of the log behind a bar."""
    lead = f"  {bar} "
    lines = textwrap.wrap(
        text,
        width,
        initial_indent=lead,
        subsequent_indent=lead,
        max_lines=most,
        placeholder=" ...",
        replace_whitespace=False,
        break_on_hyphens=False,
    )
    return [Row(line, "proof") for line in lines]


def one_line(text: str, width: int, style: Style = "") -> Row:
    return Row(text if len(text) <= width else text[: width - 4].rstrip() + " ...", style)
