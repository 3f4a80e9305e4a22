"""Folders of rules compiled at most once for the same contents, kept in the user's cache folder."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from vllm_triage.catalog.files import rule_files
from vllm_triage.catalog.rule import Catalog
from vllm_triage.catalog.serialize import from_json, to_json


def compiled_catalog(pack: Path, cache: Path | None = None) -> Catalog:
    """The catalog of one folder or file of rules.

    Args:
        pack: a folder of rule files, or one rule file.
        cache: the folder that keeps compiled catalogs; the user's cache folder if not given. One
            that cannot be read or written is done without.

    Raises:
        CatalogError: if a rule file cannot be read or breaks the format.
    """
    try:
        key = f"{_digest(rule_files(pack))} {_digest(Path(__file__).parent.glob('*.py'))}"
    except OSError:
        # The loader reads the same files and says which one it is.
        return _compile(pack)
    folder = cache or _user_cache()
    if folder is None:
        return _compile(pack)
    place = folder / f"{hashlib.sha256(os.fsencode(pack.resolve())).hexdigest()[:16]}.json"
    with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
        written, _, text = place.read_text(encoding="utf-8").partition("\n")
        if written == key:
            return from_json(text)
    catalog = _compile(pack)
    with suppress(OSError):
        _write(place, f"{key}\n{to_json(catalog)}")
    return catalog


def _compile(pack: Path) -> Catalog:
    from vllm_triage.catalog.load import compile_pack

    return compile_pack(pack)


def _digest(files: Iterable[Path]) -> str:
    """Of names and contents; the compiler's own files are part of the key, so that a change of it counts."""
    whole = hashlib.sha256()
    for file in sorted(files):
        whole.update(f"{file}\0".encode("utf-8", "surrogateescape"))
        whole.update(hashlib.sha256(file.read_bytes()).digest())
    return whole.hexdigest()


def _user_cache() -> Path | None:
    home = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME")
    try:
        return Path(home or Path.home() / ".cache") / "vllm-triage"
    except RuntimeError:  # a container's user without a home
        return None


def _write(place: Path, text: str) -> None:
    """Whole or not at all, whoever else writes or reads it at the same time."""
    place.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=place.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name, place)
    except OSError:
        os.unlink(name)
        raise
