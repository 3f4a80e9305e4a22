"""What is said while a server lives on: it is ready, it has failed, it stands still."""

from __future__ import annotations

from collections.abc import Mapping

from vllm_triage.report.model import Report
from vllm_triage.report.rows import Row, prose

# Names of phases as they read in a list of times.
_NAMES = {"import": "imports", "arguments": "arguments", "graph-capture": "graphs", "kv-cache": "KV cache"}
_PY_SPY = "py-spy dump --pid PID shows where a process stands; VLLM_LOGGING_LEVEL=DEBUG and NCCL_DEBUG=INFO make the next start say more."


def ready(report: Report, seconds: float | None = None) -> str:
    """One line: how long the start took, phase by phase as far as the log tells.

    Args:
        report: The report on a healthy log.
        seconds: How long it took by our own clock, where the log has no stamps.
    """
    times: dict[str, float] = {}
    for part in report.context.timeline:
        if part.seconds is not None and part.phase != "serving":
            times[part.phase] = times.get(part.phase, 0.0) + part.seconds
    total = sum(times.values()) or seconds
    sizes = _sizes(report.context.memory)
    parts = [
        f"{_NAMES.get(phase, phase)} {took:.0f} s" + (f" ({sizes.pop(phase)})" if phase in sizes else "")
        for phase, took in times.items()
        if took >= 1 or phase in sizes
    ]
    parts += [f"{_NAMES.get(phase, phase)} {size}" for phase, size in sizes.items()]
    took_all = f" in {total:.0f} s" if total else ""
    return f"vllm-triage: ready{took_all}" + (f": {', '.join(parts)}" if parts else "")


def _sizes(memory: Mapping[str, float]) -> dict[str, str]:
    """What a phase left behind: the weights' and the cache's size."""
    sizes = {}
    if "weights_gib" in memory:
        sizes["weights"] = f"{memory['weights_gib']:.1f} GiB"
    if "kv_cache_tokens" in memory:
        gib = f"{memory['kv_cache_gib']:.1f} GiB = " if "kv_cache_gib" in memory else ""
        sizes["kv-cache"] = f"{gib}{memory['kv_cache_tokens']:,.0f} tokens"
    return sizes


def stalled(report: Report, seconds: float, last: str, width: int) -> list[Row]:
    """Where a start stands that has not moved for some seconds; `last` is the last line it wrote."""
    phase = report.context.phase or "unknown"
    rows = prose(
        f"vllm-triage: nothing has moved for {seconds:.0f} s; the last phase seen is {phase}.",
        width,
        "headline",
    )
    if last:
        rows += prose(last, width, indent="  ", lead="last line: ", most=2)
    return [*rows, *prose(_PY_SPY, width, "faint")]
