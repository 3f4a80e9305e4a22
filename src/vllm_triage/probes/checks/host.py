"""Checks on the machine around the GPUs: memory, disks, limits, compilers, users."""

from __future__ import annotations

from vllm_triage.model import CheckResult
from vllm_triage.probes.checks.answer import Values, confirms, number, refutes, text, unknown
from vllm_triage.probes.facts import Facts

_LITTLE_SHM_GIB = 1.0  # Docker gives 64 MiB
_MUCH_SHM_GIB = 8.0
_LITTLE_DISK_GIB = 1.0
_FEW_FILES = 1024
_NEARLY = 0.9
_NOTHING = "nothing is known of the host"
_OOM = ("out of memory", "oom-kill", "oom_reaper")


def memory_killed(facts: Facts, values: Values) -> CheckResult:
    """The kernel killed a process for want of memory."""
    host = facts.host
    if host is None:
        return unknown(_NOTHING)
    if host.oom_kills:
        return confirms(f"the control group counts {host.oom_kills} OOM kills", oom_kills=host.oom_kills)
    messages = [line for line in host.kernel or () if any(word in line.lower() for word in _OOM)]
    if messages:
        return confirms(f"the kernel says: {messages[-1]}", messages=len(messages))
    if host.oom_kills == 0 and host.kernel is not None:
        return refutes("neither the control group nor the kernel reports an OOM kill")
    return unknown("the kernel's messages can't be read here")


def memory_below(facts: Facts, values: Values) -> CheckResult:
    """The host (or its control group) has less memory than `gib`."""
    needed = number(values, "gib")
    host = facts.host
    if host is None or host.memory_total_gib is None:
        return unknown(_NOTHING)
    limit = min(host.memory_total_gib, host.cgroup_limit_gib or host.memory_total_gib)
    figures = {"memory_gib": limit, "needed_gib": needed}
    if needed is None:
        return unknown(f"{limit:g} GiB of memory may be used", **figures)
    said = f"{limit:g} GiB of memory may be used, and {needed:g} GiB are asked for"
    return confirms(said, **figures) if needed > limit else refutes(said, **figures)


def shm_small(facts: Facts, values: Values) -> CheckResult:
    """/dev/shm is small or full."""
    host = facts.host
    if host is None or host.shm_total_gib is None or host.shm_free_gib is None:
        return unknown("nothing is known of /dev/shm")
    figures = {"total_gib": host.shm_total_gib, "free_gib": host.shm_free_gib}
    said = f"/dev/shm has {host.shm_total_gib:g} GiB, {host.shm_free_gib:g} GiB of it free"
    if host.shm_free_gib < _LITTLE_SHM_GIB:
        return confirms(said, **figures)
    return refutes(said, **figures) if host.shm_free_gib >= _MUCH_SHM_GIB else unknown(said, **figures)


def disk_full(facts: Facts, values: Values) -> CheckResult:
    """A disk that a start writes to is full."""
    disks = facts.host.disks if facts.host else ()
    if not disks:
        return unknown("nothing is known of the disks")
    fullest = min(disks, key=lambda disk: disk.free_gib)
    figures = {"path": fullest.path, "free_gib": fullest.free_gib}
    said = f"{fullest.free_gib:g} GiB are free under {fullest.path} ({fullest.use})"
    if fullest.free_gib < _LITTLE_DISK_GIB:
        return confirms(said, **figures)
    return unknown(said, **figures)  # it may have been emptied since, or been another one


def folder_not_writable(facts: Facts, values: Values) -> CheckResult:
    """A folder that a start writes to is not writable."""
    disks = [disk for disk in (facts.host.disks if facts.host else ()) if disk.use != "model"]
    if not disks:
        return unknown("nothing is known of the disks")
    closed = [disk for disk in disks if not disk.writable]
    if closed:
        return confirms(f"{closed[0].path} ({closed[0].use}) may not be written to", path=closed[0].path)
    return unknown("the caches may be written to by this user")


def user_unknown(facts: Facts, values: Values) -> CheckResult:
    """The user id has no name."""
    host = facts.host
    if host is None or host.uid_has_name is None:
        return unknown(_NOTHING)
    said = f"user id {host.uid} has {'a' if host.uid_has_name else 'no'} passwd entry"
    return refutes(said) if host.uid_has_name else confirms(said)


def limits_reached(facts: Facts, values: Values) -> CheckResult:
    """Processes, threads or open files are near their limit."""
    host = facts.host
    if host is None:
        return unknown(_NOTHING)
    pairs = (
        ("pids of the control group", host.pids, host.pids_limit),
        ("threads of the user", host.processes, host.processes_limit),
    )
    for name, used, limit in pairs:
        if used is not None and limit and used > _NEARLY * limit:
            return confirms(f"{used} {name}, and the limit is {limit}", used=used, limit=limit)
    if host.open_files_limit and host.open_files_limit <= _FEW_FILES:
        return confirms(f"the limit of open files is {host.open_files_limit}", limit=host.open_files_limit)
    return unknown("no limit is near now; it may have been while the server started")


def cpu_lacks_vectors(facts: Facts, values: Values) -> CheckResult:
    """The CPU has neither AVX2 nor AVX-512 (x86), nor ASIMD (Arm)."""
    flags = facts.host.cpu_flags if facts.host else ()
    if not flags:
        return unknown("the CPU's instruction sets are not known")
    if {"avx512f", "asimd"}.intersection(flags):
        return refutes("the CPU has AVX-512 or ASIMD", flags=list(flags))
    return confirms("the CPU lacks AVX-512, which wheels of the CPU backend are built for", flags=list(flags))


def pinned_memory_absent(facts: Facts, values: Values) -> CheckResult:
    """The host has no pinned memory: WSL, or nothing may be locked."""
    host = facts.host
    if host is None:
        return unknown(_NOTHING)
    return confirms("this is WSL, which pins no memory") if host.wsl else unknown("this is no WSL")


def compiler_absent(facts: Facts, values: Values) -> CheckResult:
    """The program `program` is not on PATH; without a name, no C compiler is."""
    host = facts.host
    if host is None:
        return unknown(_NOTHING)
    wanted = {"gcc", "cc", "clang"}
    program = text(values, "program")
    if program:
        if program not in {"gcc", "g++", "cc", "clang", "nvcc", "ninja", "cmake", "ptxas"}:
            return unknown(f"{program} is not looked for")
        wanted = {program}
    there = wanted.intersection(host.compilers)
    names = " or ".join(sorted(wanted))
    if there:
        return refutes(f"{sorted(there)[0]} is on PATH", compilers=list(host.compilers))
    return confirms(f"no {names} is on PATH", compilers=list(host.compilers))
