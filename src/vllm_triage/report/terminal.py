"""Puts rows on a file: in colours on a terminal, plain on everything else."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TextIO

from vllm_triage.report.rows import Row

_NARROWEST, _WIDEST = 60, 200
COLOURS = {
    "headline": "bold red",
    "title": "bold",
    "place": "cyan",
    "proof": "yellow",
    "command": "bold green",
    "faint": "dim",
    "good": "bold",
    "": "",
}


@dataclass(frozen=True, slots=True)
class Surface:
    """What is drawn on: its width, whether it takes colours, and the bar before lines of the log."""

    width: int = 80
    colours: bool = False
    bar: str = "|"

    @property
    def columns(self) -> int:
        return max(_NARROWEST, min(self.width, _WIDEST))


PLAIN = Surface()


def surface_of(file: TextIO) -> Surface:
    """A file that is no terminal is plain; NO_COLOR and TERM=dumb make a terminal so."""
    if not file.isatty():
        return PLAIN
    width = _width_of(file)
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return Surface(width)
    return Surface(width, colours=True, bar="│" if _encodable("│", file) == "│" else "|")


def _width_of(file: TextIO) -> int:
    """Columns of the terminal that this file is, which need not be that of standard output."""
    try:
        return int(os.environ.get("COLUMNS") or os.get_terminal_size(file.fileno()).columns)
    except (OSError, ValueError):
        return PLAIN.width


def write_plain(text: str, file: TextIO) -> None:
    """Write text; characters that the file's encoding lacks become question marks.

    Raises:
        OSError: The file cannot be written.
    """
    file.write(_encodable(text, file))
    file.flush()


def draw(rows: Iterable[Row], file: TextIO, surface: Surface) -> None:
    """Write rows.

    Raises:
        OSError: The file cannot be written.
    """
    if not surface.colours:
        write_plain("".join(f"{row.text}\n" for row in rows), file)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=file, highlight=False)
    for row in rows:
        # No wrapping: a command must stay one line for the clipboard.
        console.print(Text(_encodable(row.text, file), style=COLOURS[row.style]), soft_wrap=True)


def _encodable(text: str, file: TextIO) -> str:
    encoding = file.encoding or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)
