"""Whose log it is: the process that writes into our standard input, as far as Linux tells."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from vllm_triage.model import Origin

_WRITES = os.O_WRONLY | os.O_RDWR


@dataclass(frozen=True)
class Writer:
    """A process on this host as it was started.

    `here` tells that it shares our files, processes and network, so that what is seen here holds for it.
    """

    pid: int
    origin: Origin
    here: bool

    @property
    def is_vllm(self) -> bool:
        return starts_vllm(self.origin.argv)


def starts_vllm(argv: Sequence[str]) -> bool:
    """Whether a command line is that of a vLLM server, and not of `docker logs vllm`."""
    program, *rest = argv or ("",)
    if os.path.basename(program) == "vllm":
        return True
    if not os.path.basename(program).startswith("python"):
        return False
    # What Python runs is its first word that is no option, or the module after -m.
    script = next((word for word in rest if not word.startswith("-")), "")
    return os.path.basename(script) == "vllm" or ("-m" in rest and script.startswith("vllm."))


def find_writer(descriptor: int) -> Writer | None:
    """The process that holds the writing end of a pipe; a vLLM if one does. None where none can be seen."""
    try:
        inode = os.stat(descriptor).st_ino
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return None
    found = [writer for pid in pids if pid != os.getpid() and _writes(pid, inode) and (writer := _read(pid))]
    return min(found, key=lambda writer: (not writer.is_vllm, writer.pid), default=None)


def _writes(pid: int, inode: int) -> bool:
    target = f"pipe:[{inode}]"
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            if os.readlink(f"/proc/{pid}/fd/{name}") == target:
                flags = _text(f"/proc/{pid}/fdinfo/{name}").partition("flags:")[2].split()[:1]
                return bool(flags) and bool(int(flags[0], 8) & _WRITES)
    except OSError:
        pass  # it has ended, or is another user's
    return False


def _read(pid: int) -> Writer | None:
    try:
        folder = os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        folder = None
    argv = tuple(_text(f"/proc/{pid}/cmdline").split("\0")[:-1])
    if not argv:
        return None
    pairs = (entry.partition("=") for entry in _text(f"/proc/{pid}/environ").split("\0") if "=" in entry)
    origin = Origin(argv, {name: value for name, _, value in pairs}, folder, pid)
    return Writer(pid, origin, _shares_namespaces(pid))


def _shares_namespaces(pid: int) -> bool:
    try:
        return all(
            os.readlink(f"/proc/{pid}/ns/{kind}") == os.readlink(f"/proc/self/ns/{kind}")
            for kind in ("mnt", "pid", "net")
        )
    except OSError:
        return False


def _text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "surrogateescape")
    except OSError:
        return ""
