"""The Python environment that failed, read from its files: no code of it runs."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path

from vllm_triage.lazy import lazy

# Whose versions decide whether vLLM starts.
_WATCHED = lazy(
    r"vllm.*|torch.*|transformers|tokenizers|huggingface-hub|safetensors|flash-attn.*|flashinfer.*|xformers|triton.*|nvidia-.*|ray"
    r"|numpy|pydantic.*|compressed-tensors|bitsandbytes|outlines.*|xgrammar|setuptools|protobuf|opencv.*|sentencepiece|tiktoken"
    r"|mistral-common|gguf|deep-gemm|deep-ep|cupy.*|pyzmq|msgspec|fastapi|uvicorn|openai|numba|amdsmi|intel-extension.*"
)
_MAX_ENTRIES = 20_000
_MAX_METADATA = 1 << 20
_OPTION_FILES = (
    "engine/arg_utils.py",
    "entrypoints/openai/cli_args.py",
    "entrypoints/launchers/cli_args.py",
    "entrypoints/cli/serve.py",
    "entrypoints/cli/types.py",
    "entrypoints/utils.py",
    "utils/argparse_utils.py",
)
# A literal such as "--model", or a field such as `host: str | None`.
_OPTION = lazy(r"""["']--([a-z][a-z0-9-]+)["']|^    ([a-z]\w+)\s*:\s""", re.MULTILINE)
_SITE = lazy(r"^(?P<site>.*?/(?:site|dist)-packages)(?:/|$)")


@dataclass(frozen=True)
class Python:
    """`site_packages` in the order of import; `packages` are the watched ones, name to version.

    `modules` are the importable top-level names; `extensions` the compiled modules inside vllm;
    `options` those of its `vllm serve`, without dashes; `duplicates` the packages that stand in more
    than one folder; `conflicts` what vLLM requires and does not get, a sentence each; `torch_cuda` the
    CUDA version torch was built for.
    """

    site_packages: tuple[str, ...]
    version: str | None
    packages: dict[str, str]
    modules: tuple[str, ...]
    extensions: tuple[str, ...]
    options: tuple[str, ...]
    duplicates: dict[str, tuple[str, ...]]
    conflicts: tuple[str, ...]
    torch_cuda: str | None


def read(site_packages: Sequence[str]) -> Python | None:
    """What is installed in these folders; None if none of them can be read."""
    folders = [Path(folder) for folder in dict.fromkeys(site_packages) if os.path.isdir(folder)]
    if not folders:
        return None
    found: dict[str, list[tuple[str, Path]]] = {}
    modules: set[str] = set()
    for folder in folders:
        for entry in _entries(folder):
            if entry.endswith((".dist-info", ".egg-info")):
                name, number = _identity(entry)
                found.setdefault(name, []).append((number, folder / entry))
            elif module := _module(entry):
                modules.add(module)
    packages = {name: copies[0][0] for name, copies in sorted(found.items())}
    version = _python_version(folders[0])
    return Python(
        site_packages=tuple(map(str, folders)),
        version=version,
        packages={name: number for name, number in packages.items() if _WATCHED.fullmatch(name)},
        modules=tuple(sorted(modules)),
        extensions=_extensions(folders),
        options=_options(folders),
        duplicates={
            name: tuple(str(path.parent) for _, path in copies)
            for name, copies in sorted(found.items())
            if len({path.parent for _, path in copies}) > 1
        },
        conflicts=tuple(_conflicts(found.get("vllm", []), packages, version)),
        torch_cuda=_torch_cuda(folders),
    )


def site_packages_of(path: str) -> str | None:
    """The site-packages folder that a file of a traceback lies in."""
    match = _SITE.match(path)
    return match["site"] if match else None


def site_packages_for(interpreter: str, home: str | None = None) -> tuple[str, ...]:
    """The folders an interpreter (`/x/bin/python`) imports from, as far as its place tells.

    Args:
        interpreter: Its path; for one of a virtual environment the link in that environment.
        home: The home folder of its user, whose own packages come first; None where these are switched off.
    """
    root = Path(interpreter).parent.parent
    settings = _text(root / "pyvenv.cfg")
    if not settings:
        return tuple(map(str, _of_system(Path(interpreter), home)))
    folders = sorted(root.glob("lib/python3*/*-packages"))
    base = re.search(r"^home\s*=\s*(.+)$", settings, re.MULTILINE)
    if base and re.search(r"^include-system-site-packages\s*=\s*true", settings, re.M | re.I):
        folders += _of_system(Path(base[1].strip(), os.path.basename(interpreter)), home)
    return tuple(map(str, folders))


def _of_system(interpreter: Path, home: str | None) -> list[Path]:
    """Those of an interpreter that is in no virtual environment: the user's, the administrator's, the distribution's."""
    root = interpreter.parent.parent
    named = re.search(r"python3\.\d+", os.path.basename(os.path.realpath(interpreter)))
    version = named[0] if named else "python3*"
    patterns = [(Path(home), f".local/lib/{version}/site-packages")] if home else []
    # Debian's and Fedora's pip put packages for all users beside the distribution's own.
    patterns += [(root, f"local/lib*/{version}/*-packages")] if root.name == "usr" else []
    patterns += [(root, f"lib*/{version}/*-packages"), (root, "lib/python3/dist-packages")]
    found = [folder for place, pattern in patterns for folder in sorted(place.glob(pattern))]
    # lib64 may be a link to lib.
    return list({os.path.realpath(folder): folder for folder in reversed(found)}.values())[::-1]


def interpreter_of(script: str, path: str | None = None) -> str | None:
    """The interpreter that runs an installed script such as `vllm`.

    Args:
        script: Its path.
        path: The PATH where `env` looks for it; that of this process if None.
    """
    head = _text(Path(script), 600)
    if match := re.match(r"#!\s*(/\S*python\S*)", head):
        return match[1]
    # What pip writes where the path is long or holds blanks.
    if match := re.match(r"""#!/bin/sh\n'''exec' "?(/[^"\n]*?python[\w.]*)"? """, head):
        return match[1]
    by_name = re.match(r"#!\s*/usr/bin/env (python\S*)", head)
    return shutil.which(by_name[1], path=path) if by_name else None


def _entries(folder: Path) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for count, entry in enumerate(entries):
                if count >= _MAX_ENTRIES:
                    return
                yield entry.name
    except OSError:
        return


def _identity(entry: str) -> tuple[str, str]:
    """("flash-attn", "2.7.4") of "flash_attn-2.7.4.dist-info"."""
    name, _, version = entry.rsplit(".", 1)[0].partition("-")
    return re.sub(r"[-_.]+", "-", name).lower(), version.partition("-py3")[0]


def _module(entry: str) -> str | None:
    name = entry.split(".", 1)[0]
    importable = "." not in entry or entry.endswith((".py", ".so", ".pyd"))
    return name if importable and name.isidentifier() and name != "__pycache__" else None


def _extensions(folders: Sequence[Path]) -> tuple[str, ...]:
    for folder in folders:
        if (folder / "vllm").is_dir():
            return tuple(sorted(name for name in _entries(folder / "vllm") if name.endswith((".so", ".pyd"))))
    return ()


def _options(folders: Sequence[Path]) -> tuple[str, ...]:
    """Options of the installed `vllm serve`: literals and dataclass fields of the files that define them."""
    for folder in folders:
        sources = [folder / "vllm" / name for name in _OPTION_FILES]
        found = {
            (literal or name.replace("_", "-"))
            for source in sources
            for literal, name in _OPTION.findall(_text(source))
        }
        if found:
            return tuple(sorted(found))
    return ()


def _python_version(folder: Path) -> str | None:
    match = re.search(r"python(3\.\d+)", str(folder))
    return match[1] if match else None


def _torch_cuda(folders: Sequence[Path]) -> str | None:
    for folder in folders:
        if match := re.search(
            r"^cuda[^=\n]*=\s*'([\d.]+)'", _text(folder / "torch" / "version.py"), re.MULTILINE
        ):
            return match[1]
    return None


def _conflicts(
    vllm: Sequence[tuple[str, Path]], packages: dict[str, str], python_version: str | None
) -> Iterator[str]:
    """Requirements of vLLM's own metadata that the installed versions do not meet."""
    if not vllm:
        return
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.version import InvalidVersion, Version

    release, folder = vllm[0]
    header = HeaderParser().parsestr(_text(folder / "METADATA"))
    surroundings = {"extra": "", **({"python_version": python_version} if python_version else {})}
    for text in header.get_all("Requires-Dist") or []:
        try:
            wanted = Requirement(text)
            if wanted.marker and not wanted.marker.evaluate(surroundings):
                continue
            name = re.sub(r"[-_.]+", "-", wanted.name).lower()
            installed = packages.get(name)
            if installed is None:
                yield f"{name} is not installed, and vllm {release} requires {text}"
            elif not wanted.specifier.contains(Version(installed), prereleases=True):
                yield f"{name} {installed} is installed, and vllm {release} requires {text}"
        except (InvalidRequirement, InvalidVersion, KeyError):
            continue


def _text(path: Path, limit: int = _MAX_METADATA) -> str:
    try:
        with path.open("rb") as file:
            return file.read(limit).decode("utf-8", "replace")
    except OSError:
        return ""
