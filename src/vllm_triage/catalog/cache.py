"""Folders of rules compiled at most once for the same contents, kept in the user's cache folder."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from vllm_triage.cache import keep, kept
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
        key = f"{_digest(rule_files(pack))} {_digest(Path(__file__).parent.glob('*.py'))}".encode()
    except OSError:
        # The loader reads the same files and says which one it is.
        return _compile(pack)
    name = f"{hashlib.sha256(os.fsencode(pack.resolve())).hexdigest()[:16]}.json"
    with suppress(ValueError, TypeError, KeyError, AttributeError):
        if text := kept(name, key, cache):
            return from_json(text.decode("utf-8"))
    catalog = _compile(pack)
    keep(name, key, to_json(catalog).encode("utf-8"), cache)
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
