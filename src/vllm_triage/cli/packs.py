"""The user's rules on the command line: `--rules DIR`, and what happens if they are broken."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

Loaded = TypeVar("Loaded")


def add_rules_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rules",
        metavar="DIR",
        type=Path,
        action="append",
        default=[],
        help="a folder with rules of your own; one with a built-in id replaces it (repeatable)",
    )


def with_packs(load: Callable[[Sequence[Path]], Loaded], folders: Sequence[Path]) -> Loaded:
    """`load(folders)`; if they are broken, say so on standard error and go on with the built-in rules."""
    from vllm_triage.catalog import CatalogError

    try:
        return load(folders)
    except CatalogError as error:
        if not folders:
            raise
        print(f"vllm-triage: {error}\nvllm-triage: going on with the built-in rules alone", file=sys.stderr)
        return load(())
