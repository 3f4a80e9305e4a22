"""Checks on the GPUs: who holds their memory, how many there are, what they and their driver can do."""

from __future__ import annotations

from vllm_triage.model import CheckResult
from vllm_triage.probes.checks.answer import Values, confirms, number, refutes, unknown
from vllm_triage.probes.facts import Facts
from vllm_triage.probes.facts.gpus import Gpu

# Less than this is a desktop or a driver's own, and no reason for a model not to fit.
_FOREIGN_MIB = 1024
_XID = ("xid", "fallen off the bus")


def memory_held(facts: Facts, values: Values) -> CheckResult:
    """Others hold memory of the GPUs that the start takes: of `gpu`, else of the first `gpus` (1 if unknown)."""
    visible = [gpu for gpu in visible_gpus(facts) if gpu.memory_used_mib is not None]
    if not visible:
        return unknown(_no_gpus(facts))
    asked = number(values, "gpu")
    parts = max(int(number(values, "gpus") or 1), 1)
    # The log counts the GPUs that the process saw.
    taken = [gpu for place, gpu in enumerate(visible) if place == asked] or visible[:parts]
    busiest = max(taken, key=lambda gpu: _others_mib(facts, gpu) or 0)
    used = busiest.memory_used_mib or 0
    figures = {"gpu": busiest.index, "used_mib": used, "total_mib": busiest.memory_total_mib}
    if any(_others_mib(facts, gpu) is None for gpu in taken):
        return unknown(
            f"{_gib(used)} of GPU {busiest.index} are in use, and processes of this start live on: "
            "whose memory it is can't be seen from here",
            **figures,
        )
    if (_others_mib(facts, busiest) or 0) < _FOREIGN_MIB:
        # Where the log names none, it may have taken more than the first.
        for gpu in visible if asked is None else ():
            if (_others_mib(facts, gpu) or 0) >= _FOREIGN_MIB:
                return unknown(
                    f"{_gib(gpu.memory_used_mib)} of GPU {gpu.index} are in use; whether the server was to take it is not known",
                    **figures,
                )
        return refutes(
            f"{used} MiB of GPU {busiest.index} are in use: nobody else holds its memory now", **figures
        )
    holders = sorted(
        (process for process in busiest.processes if not process.own),
        key=lambda process: -(process.memory_mib or 0),
    )
    if not holders:
        return confirms(
            f"{_gib(used)} of GPU {busiest.index} are in use, by processes that can't be seen from here",
            **figures,
        )
    first = holders[0]
    who = f"process {first.pid}" + (f" ({first.name})" if first.name else "")
    held = f" with {_gib(first.memory_mib)}" if first.memory_mib else ""
    return confirms(
        f"{_gib(used)} of GPU {busiest.index} are in use, most of it by {who}{held}", pid=first.pid, **figures
    )


def memory_own(facts: Facts, values: Values) -> CheckResult:
    """Nobody else holds GPU memory, so that it is the server itself that needs too much."""
    other = memory_held(facts, values)
    if other.outcome == "confirms":
        return refutes(f"the memory is somebody else's: {other.detail}", **other.facts)
    if other.outcome == "refutes":
        return confirms("nobody else holds GPU memory: it is the server's own need", **other.facts)
    return other


def weights_too_large(facts: Facts, values: Values) -> CheckResult:
    """The weights are larger than the GPUs they are spread over (`gpus` of them, 1 if unknown)."""
    held = memory_own(facts, values)
    if held.outcome == "refutes":
        return held
    total = [gpu.memory_total_mib for gpu in visible_gpus(facts) if gpu.memory_total_mib]
    if facts.model is None or not facts.model.weights_bytes or not total:
        return held
    parts = max(int(number(values, "gpus") or 1), 1)
    need = facts.model.weights_bytes / parts / (1 << 20)
    figures = {"weights_gib": round(need / 1024, 2), "gpu_gib": round(min(total) / 1024, 2), "gpus": parts}
    said = f"{_gib(need)} of weights a GPU, and a GPU has {_gib(min(total))}"
    return confirms(said, **figures) if need > 0.9 * min(total) else unknown(said, **figures)


def absent(facts: Facts, values: Values) -> CheckResult:
    """This host has no GPU that the process could see."""
    if facts.gpus is None:
        return unknown(_no_gpus(facts))
    if not facts.gpus.devices:
        # A library that is there and does not answer may have GPUs behind it.
        gone = (
            not facts.gpus.problem or "not found" in facts.gpus.problem or "not loaded" in facts.gpus.problem
        )
        return (confirms if gone else unknown)(facts.gpus.problem or "NVML lists no GPU", devices=0)
    hidden = facts.environment.get("CUDA_VISIBLE_DEVICES") if facts.environment else None
    if hidden is not None and hidden.strip() in {"", "-1", "none", "NoDevFiles"}:
        return confirms(f"CUDA_VISIBLE_DEVICES={hidden!r} hides every GPU", devices=len(facts.gpus.devices))
    return refutes(f"NVML lists {len(facts.gpus.devices)} GPUs", devices=len(facts.gpus.devices))


def too_few(facts: Facts, values: Values) -> CheckResult:
    """There are fewer visible GPUs than `needed`."""
    needed = number(values, "needed")
    if facts.gpus is None or not facts.gpus.devices:
        return unknown(_no_gpus(facts))
    there = len(visible_gpus(facts))
    figures = {"visible": there, "needed": needed}
    if needed is None:
        return unknown(f"{there} GPUs are visible", **figures)
    if needed > there:
        return confirms(f"{there} GPUs are visible, and {needed:g} are needed", **figures)
    return refutes(f"{there} GPUs are visible, and {needed:g} are needed", **figures)


def no_such_index(facts: Facts, values: Values) -> CheckResult:
    """There is no GPU number `index` among the visible ones."""
    index = number(values, "index")
    return too_few(facts, {"needed": index + 1} if index is not None else {})


def driver_too_old(facts: Facts, values: Values) -> CheckResult:
    """The driver serves an older CUDA than torch was built for."""
    built = facts.python.torch_cuda if facts.python else None
    serves = facts.gpus.cuda if facts.gpus else None
    if not built or not serves:
        return unknown("the CUDA version of the driver or of torch is not known", driver=serves, torch=built)
    figures = {"driver": serves, "torch": built}
    said = f"the driver serves CUDA {serves}, and torch is built for {built}"
    # Within one major version newer builds run on older drivers.
    return confirms(said, **figures) if _major(serves) < _major(built) else refutes(said, **figures)


def driver_mismatch(facts: Facts, values: Values) -> CheckResult:
    """NVML itself says that library and kernel module differ."""
    if facts.gpus is None:
        return unknown(_no_gpus(facts))
    if facts.gpus.problem:
        said = facts.gpus.problem
        return confirms(said) if "mismatch" in said.lower() else unknown(said)
    return refutes(f"NVML answers: driver {facts.gpus.driver}", driver=facts.gpus.driver)


def nvml_broken(facts: Facts, values: Values) -> CheckResult:
    """NVML can't be loaded or initialized here either."""
    if facts.gpus is None:
        return unknown(_no_gpus(facts))
    return (
        confirms(facts.gpus.problem)
        if facts.gpus.problem
        else refutes(f"NVML answers: driver {facts.gpus.driver}")
    )


def capability_below(facts: Facts, values: Values) -> CheckResult:
    """A GPU's compute capability is below `needed` (such as 8.0)."""
    needed = number(values, "needed")
    known = [
        float(gpu.compute_capability)
        for gpu in (facts.gpus.devices if facts.gpus else ())
        if gpu.compute_capability
    ]
    if not known or needed is None:
        return unknown("the compute capability is not known")
    figures = {"lowest": min(known), "needed": needed}
    said = f"the compute capability is {min(known):g}, and {needed:g} is needed"
    return confirms(said, **figures) if min(known) < needed else refutes(said, **figures)


def faulty(facts: Facts, values: Values) -> CheckResult:
    """A GPU reports errors of its hardware, or the kernel does."""
    devices = facts.gpus.devices if facts.gpus else ()
    for gpu in devices:
        if fault := _fault(gpu):
            return confirms(f"GPU {gpu.index} {fault}", gpu=gpu.index)
    messages = [
        line
        for line in (facts.host.kernel or () if facts.host else ())
        if any(x in line.lower() for x in _XID)
    ]
    if messages:
        return confirms(f"the kernel says: {messages[-1]}", messages=len(messages))
    if devices and facts.host and facts.host.kernel is not None:
        return refutes("neither NVML nor the kernel reports a fault of the hardware")
    return unknown("no fault is reported, as far as can be seen from here")


def _fault(gpu: Gpu) -> str | None:
    if gpu.needs_reset:
        return "needs a reset"
    if gpu.ecc_uncorrected:
        return f"counts {gpu.ecc_uncorrected} uncorrected memory errors"
    return "waits for a reset to retire damaged memory" if gpu.pending_retirement else None


def fabric_manager_absent(facts: Facts, values: Values) -> CheckResult:
    """The service that sets up NVSwitch does not run."""
    running = facts.host.fabric_manager if facts.host else None
    if running is None or (facts.host and facts.host.container):
        return unknown("the host's services can't be seen from here")
    return refutes("nv-fabricmanager runs") if running else confirms("nv-fabricmanager does not run")


def visible_gpus(facts: Facts) -> list[Gpu]:
    """The GPUs that the process sees, in its order: CUDA_VISIBLE_DEVICES counts up to the first name it can't find."""
    devices = list(facts.gpus.devices) if facts.gpus else []
    shown = facts.environment.get("CUDA_VISIBLE_DEVICES") if facts.environment else None
    if shown is None or "MIG-" in shown:
        return devices  # which GPU a MIG instance lies on is not known
    seen: list[Gpu] = []
    for name in map(str.strip, shown.split(",")):
        found = [
            gpu
            for gpu in devices
            if name == str(gpu.index) or (name.startswith("GPU-") and (gpu.uuid or "").startswith(name))
        ]
        if not found:
            break
        seen += found[:1]
    return seen


def _others_mib(facts: Facts, gpu: Gpu) -> int | None:
    """Memory in use that is not the start's own; None where it can't be told."""
    used = gpu.memory_used_mib or 0
    if facts.gpus is None or not facts.gpus.start_lives:
        return used
    seen = [process for process in gpu.processes if process.name is not None]
    others = sum(process.memory_mib or 0 for process in seen if not process.own)
    hidden = used - sum(process.memory_mib or 0 for process in seen)
    # What a driver holds for each process is in no list.
    return others if others >= _FOREIGN_MIB or hidden < 2 * _FOREIGN_MIB else None


def _no_gpus(facts: Facts) -> str:
    reason = facts.gpus.problem if facts.gpus else facts.problems.get("gpus")
    return f"the GPUs can't be asked: {reason}" if reason else "nothing is known of the GPUs"


def _major(version: str) -> int:
    head = version.partition(".")[0]
    return int(head) if head.isdigit() else 0


def _gib(mib: float | None) -> str:
    return f"{(mib or 0) / 1024:.1f} GiB"
