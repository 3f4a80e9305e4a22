"""What NVML says of the GPUs, through its official bindings; a call into a hung driver never returns."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeVar

Answer = TypeVar("Answer")
_MIB = 1 << 20
_MAX_COMMAND = 300


@dataclass(frozen=True)
class GpuProcess:
    """A process with memory on a GPU; what may not be seen of it is None (its pid can be another namespace's)."""

    pid: int
    memory_mib: int | None
    name: str | None
    command: str | None
    user: str | None
    age_s: int | None


@dataclass(frozen=True)
class Gpu:
    """One GPU; None is "NVML does not say". Memory in MiB; `ecc_uncorrected` counts since the last reboot."""

    index: int
    uuid: str | None = None
    name: str | None = None
    memory_total_mib: int | None = None
    memory_used_mib: int | None = None
    memory_free_mib: int | None = None
    compute_capability: str | None = None
    mig: bool | None = None
    compute_mode: str | None = None
    ecc_uncorrected: int | None = None
    retired_pages: int | None = None
    pending_retirement: bool | None = None
    throttled: bool | None = None
    needs_reset: bool | None = None
    nvlinks: int | None = None
    processes: tuple[GpuProcess, ...] = ()


@dataclass(frozen=True)
class Gpus:
    """All GPUs; `problem` says why there are none, `cuda` is the newest CUDA version the driver serves."""

    driver: str | None = None
    cuda: str | None = None
    devices: tuple[Gpu, ...] = ()
    problem: str | None = None


def read() -> Gpus:
    """Ask NVML; may hang for ever where the driver does."""
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return Gpus(problem=f"NVML does not start: {error}")
    try:
        version = _ask(pynvml, pynvml.nvmlSystemGetCudaDriverVersion_v2)
        return Gpus(
            driver=_text(_ask(pynvml, pynvml.nvmlSystemGetDriverVersion)),
            cuda=f"{version // 1000}.{version % 1000 // 10}" if version else None,
            devices=tuple(
                _gpu(pynvml, index) for index in range(_ask(pynvml, pynvml.nvmlDeviceGetCount) or 0)
            ),
        )
    finally:
        pynvml.nvmlShutdown()


def _gpu(nvml: ModuleType, index: int) -> Gpu:
    try:
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
    except nvml.NVMLError as error:
        return Gpu(index, needs_reset=_is_lost(nvml, error))

    def ask(function: Callable[..., Answer], *more: object) -> Answer | None:
        return _ask(nvml, function, handle, *more)

    try:
        memory, lost = nvml.nvmlDeviceGetMemoryInfo(handle), False
    except nvml.NVMLError as error:
        memory, lost = None, _is_lost(nvml, error)
    capability = ask(nvml.nvmlDeviceGetCudaComputeCapability)
    mig, mode = ask(nvml.nvmlDeviceGetMigMode), ask(nvml.nvmlDeviceGetComputeMode)
    reasons = ask(nvml.nvmlDeviceGetCurrentClocksThrottleReasons)
    return Gpu(
        index=index,
        uuid=_text(ask(nvml.nvmlDeviceGetUUID)),
        name=_text(ask(nvml.nvmlDeviceGetName)),
        memory_total_mib=memory.total // _MIB if memory else None,
        memory_used_mib=memory.used // _MIB if memory else None,
        memory_free_mib=memory.free // _MIB if memory else None,
        compute_capability=".".join(map(str, capability)) if capability else None,
        mig=mig[0] == nvml.NVML_DEVICE_MIG_ENABLE if mig else None,
        compute_mode=_MODES.get(mode) if mode is not None else None,
        ecc_uncorrected=ask(
            nvml.nvmlDeviceGetTotalEccErrors, nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, nvml.NVML_VOLATILE_ECC
        ),
        retired_pages=_retired(nvml, handle),
        pending_retirement=_flag(ask(nvml.nvmlDeviceGetRetiredPagesPendingStatus)),
        throttled=bool(reasons & _SLOWED) if reasons is not None else None,
        needs_reset=lost,
        nvlinks=_nvlinks(nvml, handle),
        processes=tuple(
            _process(process) for process in ask(nvml.nvmlDeviceGetComputeRunningProcesses) or ()
        ),
    )


# nvmlComputeMode_t and the nvmlClocksThrottleReason bits of heat and power brake, nvml.h.
_MODES = {0: "default", 1: "exclusive thread", 2: "prohibited", 3: "exclusive process"}
_SLOWED = 0x8 | 0x20 | 0x40 | 0x80
_MAX_LINKS = 18


def _process(info: Any) -> GpuProcess:
    import psutil

    from vllm_triage.redact import redact

    memory = info.usedGpuMemory // _MIB if info.usedGpuMemory is not None else None
    try:
        process = psutil.Process(info.pid)
        with process.oneshot():
            command = redact(" ".join(process.cmdline()))[:_MAX_COMMAND]
            age = max(int(time.time() - process.create_time()), 0)
            return GpuProcess(info.pid, memory, process.name(), command or None, process.username(), age)
    except (psutil.Error, KeyError):
        return GpuProcess(info.pid, memory, None, None, None, None)


def _ask(nvml: ModuleType, function: Callable[..., Answer], *arguments: object) -> Answer | None:
    """The answer, or None where this GPU, driver or user has none."""
    try:
        return function(*arguments)
    except nvml.NVMLError:
        return None


def _is_lost(nvml: ModuleType, error: Any) -> bool:
    return getattr(error, "value", None) in {nvml.NVML_ERROR_GPU_IS_LOST, nvml.NVML_ERROR_RESET_REQUIRED}


def _retired(nvml: ModuleType, handle: object) -> int | None:
    causes = range(nvml.NVML_PAGE_RETIREMENT_CAUSE_COUNT)
    pages = [_ask(nvml, nvml.nvmlDeviceGetRetiredPages, handle, cause) for cause in causes]
    known = [len(found) for found in pages if found is not None]
    return sum(known) if known else None


def _nvlinks(nvml: ModuleType, handle: object) -> int | None:
    states = [_ask(nvml, nvml.nvmlDeviceGetNvLinkState, handle, link) for link in range(_MAX_LINKS)]
    known = [state for state in states if state is not None]
    return sum(known) if known else None


def _flag(value: int | None) -> bool | None:
    return None if value is None else bool(value)


def _text(value: str | bytes | None) -> str | None:
    """Old bindings answer in bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
