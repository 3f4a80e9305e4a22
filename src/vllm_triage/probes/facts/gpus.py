"""What NVML says of the GPUs, asked in a process of its own: a driver that hangs or crashes takes only that.

This file is also the program of that process. It imports nothing of this package there, so that it starts at once.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

Seen = TypeVar("Seen")
_MIB = 1 << 20
_MAX_COMMAND = 300
_MAX_NAME = 100
_REAP_S = 0.1


@dataclass(frozen=True)
class GpuProcess:
    """A process with memory on a GPU; all but pid and memory are None where it can't be seen from here.

    That is so for a process of another container or namespace (its pid is then that of the host), for one
    that has ended, and partly for another user's. `own` is whether it belongs to the start that is looked into.
    """

    pid: int
    memory_mib: int | None
    name: str | None
    command: str | None
    user: str | None
    age_s: int | None
    own: bool = False


@dataclass(frozen=True)
class Gpu:
    """One GPU; None is "NVML does not say". Memory in MiB, that of the whole GPU where MIG divides it.

    `memory_used_mib` is what processes hold, without what the driver sets aside for itself where NVML tells
    these apart. `unlisted_mib` is that part of it which no process in `processes` accounts for: it belongs to
    processes hidden from here, such as those of other containers. `ecc_uncorrected` counts since the last
    reboot; `retired_pages` counts retired pages or remapped rows, and `pending_retirement` says that some wait
    for a reset or could not be remapped. `throttle` names what slows the clocks down; `nvlink` is the
    number of links that are up, and of all.
    """

    index: int
    uuid: str | None = None
    name: str | None = None
    memory_total_mib: int | None = None
    memory_used_mib: int | None = None
    memory_free_mib: int | None = None
    unlisted_mib: int | None = None
    compute_capability: str | None = None
    mig: bool | None = None
    compute_mode: str | None = None
    ecc_uncorrected: int | None = None
    retired_pages: int | None = None
    pending_retirement: bool | None = None
    throttle: tuple[str, ...] | None = None
    needs_reset: bool | None = None
    nvlink: tuple[int, int] | None = None
    processes: tuple[GpuProcess, ...] = ()


@dataclass(frozen=True)
class Gpus:
    """All GPUs; `problem` says why there are none, `cuda` is the newest CUDA version the driver serves.

    `start_lives` is whether processes of the start that is looked into live on: then memory whose holder can't be
    seen from here may be theirs.
    """

    driver: str | None = None
    cuda: str | None = None
    devices: tuple[Gpu, ...] = ()
    problem: str | None = None
    start_lives: bool = False


def read(timeout_s: float | None = None, pids: Sequence[int] = ()) -> Gpus:
    """Ask NVML about all GPUs, and the host about the processes on them.

    Args:
        timeout_s: Seconds until a process that does not answer is left behind; None waits for ever, for a caller
            that keeps the time itself.
        pids: The processes of the start that is looked into, as far as they are known.
    """
    try:
        child = subprocess.Popen(
            [sys.executable, "-I", __file__],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        return Gpus(problem=f"no process could be started to ask NVML: {error.strerror}")
    try:
        answer, _ = child.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        _abandon(child)
        return Gpus(problem=f"NVML gave no answer within {timeout_s:g} s")
    lines = answer.splitlines()
    if not lines:
        return Gpus(problem=f"NVML gave no answer: the process that asked it {_end(child.returncode)}")
    return _from_answer(json.loads(lines[-1]), _living(pids))


def _abandon(child: subprocess.Popen[bytes]) -> None:
    """Kill it; a process that hangs in the driver dies when the driver lets go of it, so nobody waits for that."""
    child.kill()
    if child.stdout:
        child.stdout.close()
    with suppress(subprocess.TimeoutExpired):
        child.wait(_REAP_S)


def _end(status: int) -> str:
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"


def _from_answer(said: dict[str, Any], start: frozenset[int]) -> Gpus:
    devices = tuple(_gpu_from(device, start) for device in said["devices"])
    return Gpus(
        _clean(said["driver"]), said["cuda"], devices, _clean(said["problem"], _MAX_COMMAND), bool(start)
    )


def _living(pids: Sequence[int]) -> frozenset[int]:
    """Those that still are what a log says they are: the number may be another program's by now, or here."""
    import psutil

    def is_server(pid: int) -> bool:
        try:
            process = psutil.Process(pid)
            words = " ".join((process.name(), *process.cmdline())).lower()
            return process.status() != psutil.STATUS_ZOMBIE and ("python" in words or "vllm" in words)
        except psutil.Error:
            return False

    return frozenset(pid for pid in pids if 0 < pid < 1 << 31 and is_server(pid))


def _gpu_from(said: dict[str, Any], start: frozenset[int]) -> Gpu:
    gpu = Gpu(**said)
    return replace(
        gpu,
        uuid=_clean(gpu.uuid),
        name=_clean(gpu.name),
        throttle=None if gpu.throttle is None else tuple(gpu.throttle),
        nvlink=None if gpu.nvlink is None else (gpu.nvlink[0], gpu.nvlink[1]),
        processes=tuple(
            _look_at(process["pid"], process["memory_mib"], start) for process in said["processes"]
        ),
    )


def _look_at(pid: int, memory_mib: int | None, start: frozenset[int]) -> GpuProcess:
    import psutil

    def see(look: Callable[[], Seen]) -> Seen | None:
        try:
            return look()
        except psutil.Error:
            return None

    hidden = GpuProcess(pid, memory_mib, None, None, None, None)
    process = see(lambda: psutil.Process(pid))
    if process is None:
        return hidden
    started = see(process.create_time)
    command = _clean(" ".join(see(process.cmdline) or ()), _MAX_COMMAND)
    ancestors = see(process.parents) or ()
    return replace(
        hidden,
        name=_clean(see(process.name)),
        command=command or None,
        user=_clean(see(process.username)),
        age_s=None if started is None else max(int(time.time() - started), 0),
        own=not start.isdisjoint((pid, *(ancestor.pid for ancestor in ancestors))),
    )


def _clean(text: str | None, most: int = _MAX_NAME) -> str | None:
    """Others choose the names and arguments of their processes."""
    from vllm_triage.redact import redact

    # Cut before, for speed, well behind the part that stays, so that no half of a secret does.
    return None if text is None else redact(text[: 16 * most])[:most]


# From here on: what runs in the process that asks NVML.


def _answer() -> None:
    _end_with_parent()
    print(json.dumps(asdict(_ask_nvml())), flush=True)
    # The answer is out, and an orderly end could hang in the driver.
    os._exit(0)


def _end_with_parent() -> None:
    """A process that hangs is not to outlive the one that asked."""
    if sys.platform == "linux":
        import ctypes

        set_parent_death_signal = 1  # PR_SET_PDEATHSIG of linux/prctl.h
        ctypes.CDLL(None).prctl(set_parent_death_signal, int(signal.SIGKILL))


def _ask_nvml() -> Gpus:
    # Isolated, it does not look where PYTHONPATH and `pip install --target` put things: beside this package.
    sys.path.append(str(Path(__file__).resolve().parents[3]))
    try:
        import pynvml as nvml
    except ImportError:
        return Gpus(problem="the Python package nvidia-ml-py is not installed, so NVML can't be asked")
    try:
        nvml.nvmlInit()
        count = nvml.nvmlDeviceGetCount()
        problem = None
    except Exception as error:
        count, problem = 0, _sentence(nvml, error)
    version = _ask(nvml, "nvmlSystemGetCudaDriverVersion_v2")
    return Gpus(
        driver=_text(_ask(nvml, "nvmlSystemGetDriverVersion")),
        cuda=f"{version // 1000}.{version % 1000 // 10}" if version else None,
        devices=tuple(_gpu(nvml, index) for index in range(count)),
        problem=problem,
    )


def _sentence(nvml: ModuleType, error: Exception) -> str:
    said = {
        nvml.NVML_ERROR_LIBRARY_NOT_FOUND: "NVML's library was not found: no NVIDIA driver is installed here, or the container was started without GPUs",
        nvml.NVML_ERROR_DRIVER_NOT_LOADED: "NVML finds no driver: the NVIDIA kernel module is not loaded",
        nvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: "driver/library version mismatch: NVML's library and the loaded NVIDIA kernel module are of different releases",
        nvml.NVML_ERROR_NO_PERMISSION: "no permission to ask the NVIDIA driver",
    }
    return said.get(getattr(error, "value", None), f"NVML does not start: {error}")


def _gpu(nvml: ModuleType, index: int) -> Gpu:
    try:
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
    except Exception as error:
        return Gpu(index, needs_reset=_is_lost(nvml, error) or None)

    def ask(function: str, *more: object) -> Any:
        return _ask(nvml, function, handle, *more)

    lost, memory = _memory(nvml, handle)
    total, used, free = (value // _MIB for value in memory) if memory else (None, None, None)
    processes = _processes(nvml, handle)
    capability, mig = ask("nvmlDeviceGetCudaComputeCapability"), ask("nvmlDeviceGetMigMode")
    reasons = ask("nvmlDeviceGetCurrentClocksThrottleReasons")
    retired, pending = _retired(nvml, handle)
    return Gpu(
        index=index,
        uuid=_text(ask("nvmlDeviceGetUUID")),
        name=_text(ask("nvmlDeviceGetName")),
        memory_total_mib=total,
        memory_used_mib=used,
        memory_free_mib=free,
        unlisted_mib=_unlisted(used, processes),
        compute_capability=".".join(map(str, capability)) if capability else None,
        mig=mig[0] == 1 if mig else None,
        compute_mode=_MODES.get(ask("nvmlDeviceGetComputeMode")),
        ecc_uncorrected=ask("nvmlDeviceGetTotalEccErrors", _UNCORRECTED, _SINCE_REBOOT),
        retired_pages=retired,
        pending_retirement=pending,
        throttle=None if reasons is None else tuple(_SLOWED[bit] for bit in _SLOWED if reasons & bit),
        needs_reset=lost or bool(_field(nvml, handle, "NVML_FI_DEV_RESET_STATUS")),
        nvlink=_nvlink(nvml, handle),
        processes=processes,
    )


# The numbers of nvml.h.
_MODES = {0: "default", 1: "exclusive thread", 2: "prohibited", 3: "exclusive process"}
_UNCORRECTED, _SINCE_REBOOT = 1, 0
# The clocks may also be lower by choice or because nothing runs; these are distress.
_SLOWED = {0x8: "hardware slowdown", 0x20: "heat", 0x40: "heat (hardware)", 0x80: "power brake"}
_RETIREMENT_CAUSES = (0, 1)
_MAX_LINKS = 36


def _memory(nvml: ModuleType, handle: object) -> tuple[bool, tuple[int, int, int] | None]:
    """Whether the GPU is lost, and its total, used and free bytes."""
    # The second version keeps the driver's own part, up to a GiB, out of what is used.
    memory = _ask(nvml, "nvmlDeviceGetMemoryInfo", handle, getattr(nvml, "nvmlMemory_v2", None))
    try:
        memory = memory or nvml.nvmlDeviceGetMemoryInfo(handle)
    except Exception as error:
        return _is_lost(nvml, error), None
    return False, (memory.total, memory.used, memory.free)


def _processes(nvml: ModuleType, handle: object) -> tuple[GpuProcess, ...]:
    """Of each kind NVML lists; one that computes and draws is in two lists with the same memory."""
    found: dict[int, int | None] = {}
    for kind in ("Compute", "Graphics", "MPSCompute"):
        for process in _listed(nvml, handle, kind):
            held = None if process.usedGpuMemory is None else process.usedGpuMemory // _MIB
            known = found.get(process.pid)
            found[process.pid] = held if known is None else max(known, held or 0)
    return tuple(GpuProcess(pid, held, None, None, None, None) for pid, held in sorted(found.items()))


def _listed(nvml: ModuleType, handle: object, kind: str) -> list[Any]:
    # The third version came with R510, and drivers of R535 fill it with entries of another size.
    for version in ("v2", "v3"):
        processes = _ask(nvml, f"nvmlDeviceGet{kind}RunningProcesses_{version}", handle)
        if processes is not None:
            return list(processes)
    return []


def _unlisted(used_mib: int | None, processes: tuple[GpuProcess, ...]) -> int | None:
    held = [process.memory_mib for process in processes if process.memory_mib is not None]
    if used_mib is None or len(held) < len(processes):
        return None
    return max(used_mib - sum(held), 0)


def _retired(nvml: ModuleType, handle: object) -> tuple[int | None, bool | None]:
    """Pages on GPUs up to Volta and Turing, rows on those since: how many, and whether some wait or failed."""
    rows = _ask(nvml, "nvmlDeviceGetRemappedRows", handle)
    if rows is not None:
        corrected, uncorrected, pending, failed = rows
        return corrected + uncorrected, bool(pending or failed)
    lists = [_ask(nvml, "nvmlDeviceGetRetiredPages", handle, cause) for cause in _RETIREMENT_CAUSES]
    known = [len(pages) for pages in lists if pages is not None]
    waiting = _ask(nvml, "nvmlDeviceGetRetiredPagesPendingStatus", handle)
    return sum(known) if known else None, None if waiting is None else bool(waiting)


def _nvlink(nvml: ModuleType, handle: object) -> tuple[int, int] | None:
    states = [_ask(nvml, "nvmlDeviceGetNvLinkState", handle, link) for link in range(_MAX_LINKS)]
    known = [state for state in states if state is not None]
    return (sum(known), len(known)) if known else None


def _field(nvml: ModuleType, handle: object, name: str) -> int | None:
    number = getattr(nvml, name, None)
    values = _ask(nvml, "nvmlDeviceGetFieldValues", handle, [number]) if number is not None else None
    return int(values[0].value.uiVal) if values and values[0].nvmlReturn == 0 else None


def _ask(nvml: ModuleType, function: str, *arguments: object) -> Any:
    """The answer, or None where this GPU, driver, user or release of the bindings has none."""
    try:
        return getattr(nvml, function)(*arguments)
    except Exception:  # the bindings raise more than their NVMLError: an old driver, a name that is no UTF-8
        return None


def _is_lost(nvml: ModuleType, error: Exception) -> bool:
    return getattr(error, "value", None) in {nvml.NVML_ERROR_GPU_IS_LOST, nvml.NVML_ERROR_RESET_REQUIRED}


def _text(value: str | bytes | None) -> str | None:
    """Old bindings answer in bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


if __name__ == "__main__":
    _answer()
