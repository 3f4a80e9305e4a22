"""The report for people: plain text, or drawn on a terminal."""

from __future__ import annotations

from typing import TextIO

from vllm_triage.report.model import Report
from vllm_triage.report.terminal import PLAIN, Surface, draw, surface_of
from vllm_triage.report.view import view


def render(report: Report, width: int = PLAIN.width, verbose: bool = False) -> str:
    """Plain text: no colours, no drawn characters.

    Args:
        width: Columns; kept between 60 and 200.
        verbose: Everything, not only what fits on a screen.
    """
    rows = view(report, Surface(width).columns, PLAIN.bar, verbose)
    return "".join(f"{row.text}\n" for row in rows)


def write(report: Report, file: TextIO, verbose: bool = False) -> None:
    """Draw on a terminal; write plain text to anything else, or if NO_COLOR asks for it.

    Raises:
        OSError: The file cannot be written.
    """
    surface = surface_of(file)
    draw(view(report, surface.columns, surface.bar, verbose), file, surface)
