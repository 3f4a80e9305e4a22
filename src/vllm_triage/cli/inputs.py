"""The files to triage: folders opened, and a clear word about what cannot be a log."""

from __future__ import annotations

import errno
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from vllm_triage.scan.nature import TextGauge

SUFFIXES = (".log", ".txt", ".out", ".gz")

_GZIP = b"\x1f\x8b"
_SAMPLE = 64 * 1024
# Start of the file: what it is, what to do.
_FORMATS = {
    b"\x7fELF": ("a program (ELF)", "give the log that it wrote"),
    b"PK\x03\x04": ("a zip archive", "unpack it first"),
    b"7z\xbc\xaf\x27\x1c": ("a 7z archive", "unpack it first"),
    b"\xfd7zXZ\0": ("compressed with xz", "use xz -dc FILE | vllm-triage"),
    b"BZh": ("compressed with bzip2", "use bzip2 -dc FILE | vllm-triage"),
    b"\x28\xb5\x2f\xfd": ("compressed with zstd", "use zstd -dc FILE | vllm-triage"),
    b"%PDF-": ("a PDF", "give the text of the log"),
    b"\x89PNG": ("a picture", "give the text of the log"),
    b"\xff\xd8\xff": ("a picture", "give the text of the log"),
    b"GGUF": ("a model file", "give the log of the server"),
}


class InputError(Exception):
    """A file that cannot be triaged; the text is `FILE: what: mend`."""


def find_files(names: Sequence[str]) -> list[Path]:
    """The files that the arguments mean, in their order; a folder stands for the logs in it.

    Raises:
        InputError: A file is missing, unreadable or no text, or a folder holds no logs.
    """
    if "-" in names:
        raise InputError("-: standard input beside files: give it alone, or save it to a file")
    return [path for name in names for path in _expand(Path(name))]


def _expand(path: Path) -> Iterator[Path]:
    try:
        if not path.is_dir():
            _check(path)
            yield path
            return
        logs = sorted(entry for entry in path.iterdir() if entry.suffix in SUFFIXES and entry.is_file())
        for log in logs:
            _check(log)
    except OSError as error:
        raise InputError(f"{path}: {_what(error)}") from error
    if not logs:
        wanted = ", ".join(f"*{suffix}" for suffix in SUFFIXES)
        raise InputError(f"{path}: a folder without {wanted}: name the log itself")
    yield from logs


def _check(path: Path) -> None:
    if not stat.S_ISREG(path.stat().st_mode):
        return  # reading a pipe would take its start away
    with path.open("rb") as file:
        sample = file.read(_SAMPLE)
    for magic, (what, mend) in _FORMATS.items():
        if sample.startswith(magic):
            raise InputError(f"{path}: {what}: {mend}")
    if sample[257:262] == b"ustar":
        raise InputError(f"{path}: a tar archive: unpack it first")
    if sample.startswith(_GZIP):
        return
    gauge = TextGauge()
    gauge.push(sample)
    if gauge.nature == "binary":
        raise InputError(f"{path}: binary data and no log: give the text that the server printed")


def _what(error: OSError) -> str:
    if error.errno == errno.ENOENT:
        return "no such file: check the path"
    if error.errno in {errno.EACCES, errno.EPERM}:
        return "not readable: check its permissions"
    return f"{error.strerror or error}: check the path"
