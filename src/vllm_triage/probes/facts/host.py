"""The machine around the GPUs: memory, shared memory, disks, limits, compilers, kernel messages."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from vllm_triage.lazy import lazy

_KERNEL = lazy(
    r"NVRM: Xid|NVSwitch.*SXid|Out of memory: Killed|oom-kill:|oom_reaper|Memory cgroup out of memory"
    r"|GPU has fallen off the bus|nvidia.*API mismatch",
    re.IGNORECASE,
)
_KERNEL_BYTES = 4 << 20
_MAX_KERNEL = 20
_COMPILERS = ("gcc", "g++", "cc", "clang", "nvcc", "ninja", "cmake", "ptxas")
_GIB = 1 << 30


@dataclass(frozen=True)
class Disk:
    """The file system under a folder that is written to at start; GiB."""

    use: str
    path: str
    total_gib: float
    free_gib: float
    writable: bool


@dataclass(frozen=True)
class Host:
    """What limits a process here. None is "not known"; memory in GiB.

    `oom_kills` is the control group's counter since it was made. `kernel` are messages of the kernel about GPUs
    and killed processes; None where it may not be read. `processes` and `pids` count against their limits.
    """

    system: str
    memory_total_gib: float | None = None
    memory_available_gib: float | None = None
    swap_total_gib: float | None = None
    cgroup_limit_gib: float | None = None
    cgroup_used_gib: float | None = None
    oom_kills: int | None = None
    shm_total_gib: float | None = None
    shm_free_gib: float | None = None
    disks: tuple[Disk, ...] = ()
    open_files_limit: int | None = None
    locked_memory_limit_gib: float | None = None
    processes: int | None = None
    processes_limit: int | None = None
    pids: int | None = None
    pids_limit: int | None = None
    uid: int | None = None
    uid_has_name: bool | None = None
    kernel: tuple[str, ...] | None = None
    compilers: tuple[str, ...] = ()
    cpu_flags: tuple[str, ...] = ()
    container: bool | None = None
    kubernetes: bool = False
    wsl: bool = False
    fabric_manager: bool | None = None


def read(variables: Mapping[str, str], folders: Mapping[str, str]) -> Host:
    """Read the host; `folders` are those whose disks matter, by what they are used for."""
    import psutil

    memory, swap = psutil.virtual_memory(), psutil.swap_memory()
    cgroup = _Cgroup()
    shm = _usage("/dev/shm")
    limits = _limits()
    uid = os.getuid() if hasattr(os, "getuid") else None
    names, owners = _processes()
    version = _text("/proc/version")
    return Host(
        system=f"{os.uname().sysname} {os.uname().release}" if hasattr(os, "uname") else os.name,
        memory_total_gib=_gib(memory.total),
        memory_available_gib=_gib(memory.available),
        swap_total_gib=_gib(swap.total),
        cgroup_limit_gib=_gib(cgroup.number("memory.max", "memory/memory.limit_in_bytes")),
        cgroup_used_gib=_gib(cgroup.number("memory.current", "memory/memory.usage_in_bytes")),
        oom_kills=cgroup.oom_kills(),
        shm_total_gib=_gib(shm[0]) if shm else None,
        shm_free_gib=_gib(shm[1]) if shm else None,
        disks=tuple(_disks(folders)),
        open_files_limit=limits.get("NOFILE"),
        locked_memory_limit_gib=_gib(limits.get("MEMLOCK")),
        processes=owners.get(uid) if uid is not None else None,
        processes_limit=limits.get("NPROC"),
        pids=cgroup.number("pids.current", "pids/pids.current"),
        pids_limit=cgroup.number("pids.max", "pids/pids.max"),
        uid=uid,
        uid_has_name=_has_name(uid),
        kernel=_kernel(),
        compilers=tuple(name for name in _COMPILERS if shutil.which(name, path=variables.get("PATH"))),
        cpu_flags=_cpu_flags(),
        container=os.path.exists("/.dockerenv")
        or os.path.exists("/run/.containerenv")
        or "kubepods" in cgroup.path,
        kubernetes="KUBERNETES_SERVICE_HOST" in variables,
        wsl="microsoft" in version.lower(),
        fabric_manager="nv-fabricmanager" in names,
    )


class _Cgroup:
    """The control group of this process, of either version."""

    def __init__(self) -> None:
        self.path = _text("/proc/self/cgroup")
        match = re.search(r"^0::(/.*)$", self.path, re.MULTILINE)
        own = f"/sys/fs/cgroup{match[1]}" if match else "/sys/fs/cgroup"
        self._roots = (own, "/sys/fs/cgroup")

    def number(self, *names: str) -> int | None:
        for root in self._roots:
            for name in names:
                text = _text(f"{root}/{name}").strip()
                # Version 1 says "no limit" with a number close to 2**63.
                if text.isdigit() and int(text) < 1 << 62:
                    return int(text)
        return None

    def oom_kills(self) -> int | None:
        for root in self._roots:
            for name in ("memory.events", "memory/memory.oom_control"):
                if match := re.search(r"^oom_kill (\d+)", _text(f"{root}/{name}"), re.MULTILINE):
                    return int(match[1])
        return None


def _limits() -> dict[str, int]:
    try:
        import resource
    except ImportError:  # Windows
        return {}
    limits = {}
    for name in ("NOFILE", "NPROC", "MEMLOCK"):
        soft, _ = resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))
        if soft != resource.RLIM_INFINITY:
            limits[name] = soft
    return limits


def _processes() -> tuple[set[str], dict[int, int]]:
    """The names of all processes, and how many threads each user has (threads count against the limit)."""
    import psutil

    names, threads = set(), dict[int, int]()
    for process in psutil.process_iter(["name", "uids", "num_threads"]):
        names.add(process.info["name"] or "")
        if uids := process.info["uids"]:
            threads[uids.real] = threads.get(uids.real, 0) + (process.info["num_threads"] or 0)
    return names, threads


def _disks(folders: Mapping[str, str]) -> Iterator[Disk]:
    for use, folder in folders.items():
        path = os.path.abspath(os.path.expanduser(folder))
        while not os.path.exists(path) and os.path.dirname(path) != path:
            path = os.path.dirname(path)
        if usage := _usage(path):
            yield Disk(use, path, _gib(usage[0]) or 0.0, _gib(usage[1]) or 0.0, os.access(path, os.W_OK))


def _usage(path: str) -> tuple[int, int] | None:
    """Total and free bytes of the file system under a path."""
    try:
        usage = shutil.disk_usage(path)
    except OSError:
        return None
    return usage.total, usage.free


def _has_name(uid: int | None) -> bool | None:
    if uid is None:
        return None
    import pwd

    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _kernel() -> tuple[str, ...] | None:
    """Messages of the kernel's ring buffer that matter here, oldest first; None if it may not be read."""
    try:
        device = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    found: list[str] = []
    read = 0
    try:
        while read < _KERNEL_BYTES:
            record = os.read(device, 8192)
            read += len(record)
            text = record.decode("utf-8", "replace").partition(";")[2].partition("\n")[0]
            if _KERNEL.search(text):
                found.append(text[:300])
    except BlockingIOError:
        pass  # the end
    except OSError:
        return None
    finally:
        os.close(device)
    return tuple(found[-_MAX_KERNEL:])


def _cpu_flags() -> tuple[str, ...]:
    match = re.search(r"^(?:flags|Features)\s*:\s*(.*)$", _text("/proc/cpuinfo", 20_000), re.MULTILINE)
    wanted = lazy(r"avx.*|amx.*|sse4_2|asimd.*|sve.*|bf16|f16c|i8mm")
    return tuple(sorted(flag for flag in match[1].split() if wanted.fullmatch(flag))) if match else ()


def _gib(size: int | None) -> float | None:
    return None if size is None else round(size / _GIB, 2)


def _text(path: str | Path, limit: int = 65_536) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(limit).decode("utf-8", "replace")
    except OSError:
        return ""


def folders_of(variables: Mapping[str, str], hub_cache: str, model: str | None) -> dict[str, str]:
    """The folders that a start writes to or reads much from, by use."""
    home = variables.get("HOME") or os.path.expanduser("~")
    cache = variables.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    folders = {
        "hub cache": hub_cache,
        "vLLM's cache": variables.get("VLLM_CACHE_ROOT") or os.path.join(cache, "vllm"),
        "temporary files": variables.get("TMPDIR") or "/tmp",
    }
    return folders | ({"model": model} if model else {})
