"""Which files a folder of rules holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from vllm_triage.catalog.problem import CatalogError, Problem

_SUFFIXES = {".yaml", ".yml"}


def rule_files(pack: Path) -> list[Path]:
    """The rule files of a folder and its sub-folders in order, or the one file itself.

    Raises:
        CatalogError: if there are none.
    """
    if pack.is_file():
        return [pack]
    found = sorted(_visible(pack))
    if not found:
        got = "a folder without any" if pack.is_dir() else "nothing there"
        raise CatalogError([Problem(str(pack), 1, 1, "", f"expected rule files (*.yaml), got {got}")])
    return found


def _visible(folder: Path) -> Iterator[Path]:
    """Hidden folders are left out: a mounted ConfigMap holds everything a second time in one."""
    for path in folder.rglob("*"):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if not hidden and path.suffix in _SUFFIXES and path.is_file():
            yield path
