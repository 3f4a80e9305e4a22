"""Draws a report of the tool as an SVG: `python docs/picture.py LOG PICTURE`."""

from __future__ import annotations

import io
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

from vllm_triage import triage
from vllm_triage.report.terminal import COLOURS
from vllm_triage.report.view import view

WIDTH = 100


def main(log: Path, picture: Path) -> None:
    console = Console(record=True, width=WIDTH, file=io.StringIO(), highlight=False)
    console.print(Text(f"$ vllm-triage {log.name}", style="dim"))
    for row in view(triage(log), WIDTH, "│"):
        console.print(Text(row.text, style=COLOURS[row.style]))
    picture.write_text(console.export_svg(title="vllm-triage", unique_id="diagnosis"), encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
