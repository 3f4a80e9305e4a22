"""Which shared libraries the dynamic loader would find, and which come with Python packages."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vllm_triage.lazy import lazy

# Those whose absence keeps vLLM from starting.
WATCHED = (
    "libcuda", "libnvidia-ml", "libcudart", "libcublas", "libcublasLt", "libcudnn", "libnccl", "libcusparse", "libcusparseLt",
    "libcusolver", "libcufft", "libcurand", "libnvrtc", "libcupti", "libnvJitLink", "libamdhip64", "libGL", "libnuma", "libgomp",
    "libstdc++", "libpython3", "libtbb", "libtcmalloc", "libiomp5",
)  # fmt: skip
_LINE = lazy(r"\s*(?P<name>lib[\w.+-]+?\.so[\w.]*) \(.*\) => (?P<path>/\S+)")
_LDCONFIG_S = 1.0
_MAX_ENTRIES = 5_000


@dataclass(frozen=True)
class Library:
    """One file of a library; `by` is the way it is found: "LD_LIBRARY_PATH", "ldconfig" or "wheel"."""

    path: str
    by: str


@dataclass(frozen=True)
class Libraries:
    """Library name without ".so" and version -> the files, in the loader's order.

    `searched_cache` is False where the loader's cache could not be read.
    """

    found: dict[str, tuple[Library, ...]]
    searched_cache: bool

    def get(self, name: str) -> tuple[Library, ...]:
        return self.found.get(stem(name), ())


def stem(name: str) -> str:
    """The name of a file without its version: libcudnn of /x/libcudnn_ops.so.9.1."""
    base = name.rpartition("/")[2].split(".so", 1)[0]
    return base.split("_", 1)[0] if base.startswith("libcudnn_") else base


def read(variables: Mapping[str, str], site_packages: Sequence[str]) -> Libraries:
    cache = _cache()
    found: dict[str, list[Library]] = {}
    for library in [*_from_path(variables.get("LD_LIBRARY_PATH", "")), *cache, *_from_wheels(site_packages)]:
        name = stem(library.path)
        if name in WATCHED and library not in found.get(name, ()):
            found.setdefault(name, []).append(library)
    return Libraries({name: tuple(files) for name, files in sorted(found.items())}, bool(cache))


def _from_path(value: str) -> Iterator[Library]:
    for folder in filter(None, value.split(":")):
        yield from (Library(path, "LD_LIBRARY_PATH") for path in _shared_objects(Path(folder)))


def _cache() -> list[Library]:
    for program in ("/sbin/ldconfig", "/usr/sbin/ldconfig"):
        if os.access(program, os.X_OK):
            break
    else:
        return []
    try:
        answer = subprocess.run(
            [program, "-p"], capture_output=True, text=True, timeout=_LDCONFIG_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return []
    return [
        Library(match["path"], "ldconfig")
        for line in answer.stdout.splitlines()
        if (match := _LINE.match(line))
    ]


def _from_wheels(site_packages: Sequence[str]) -> Iterator[Library]:
    """Libraries of the nvidia wheels and of torch, which torch loads by path."""
    for site in site_packages:
        folders = [*sorted(Path(site).glob("nvidia/*/lib")), Path(site, "torch", "lib")]
        for folder in folders:
            yield from (Library(path, "wheel") for path in _shared_objects(folder))


def _shared_objects(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for _, entry in zip(range(_MAX_ENTRIES), entries, strict=False)]
    except OSError:
        return []
    return [str(folder / name) for name in sorted(names) if ".so" in name]
