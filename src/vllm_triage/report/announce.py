"""What is said while a server lives on: it is ready, it has failed, it stands still."""

from __future__ import annotations

from collections.abc import Mapping

from vllm_triage.lazy import lazy
from vllm_triage.model import Line, Log, Role
from vllm_triage.redact import redact
from vllm_triage.report.model import Report
from vllm_triage.report.rows import Row, prose

# Names of phases as they read in a list of times.
_NAMES = {"import": "imports", "arguments": "arguments", "graph-capture": "graphs", "kv-cache": "KV cache"}
_STACK = "py-spy dump --pid PID shows where a process stands."
_HUB = "Is the hub there? curl -sI https://huggingface.co; proxy, firewall, HF_ENDPOINT; HF_HUB_OFFLINE=1 uses the cache."
_ADVICE = {
    "config": (_HUB, _STACK),
    "download": (_HUB, "Is there room? df -h ~/.cache/huggingface"),
    "distributed": (
        _STACK,
        "NCCL_DEBUG=INFO makes the next start say more; NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME name the interface.",
    ),
    "weights": (_STACK, "Does the storage read? iostat -x 5, nfsiostat 5"),
}
_OTHERWISE = (_STACK, "VLLM_LOGGING_LEVEL=DEBUG and VLLM_TRACE_FUNCTION=1 make the next start say more.")
_RANK = lazy(r"world_size=(\d{1,4}) rank=(\d{1,4})|rank (\d{1,4}) in world size (\d{1,4})")
_MOST_PROCESSES = 4


def ready(report: Report, seconds: float | None = None) -> str:
    """One line: how long the start took, phase by phase as far as the log tells.

    Args:
        report: The report on a healthy log.
        seconds: How long it took by our own clock; the stamps of the log may tell of more.
    """
    times: dict[str, float] = {}
    for part in report.context.timeline:
        if part.seconds is not None and part.phase != "serving":
            times[part.phase] = times.get(part.phase, 0.0) + part.seconds
    stamped = sum(times.values())
    # A server imports for a while before its first line. Of a start that is not the first our clock tells nothing.
    total = max(stamped, seconds or 0) if report.context.attempts == 1 else stamped
    if stamped and total - stamped >= 1:
        times = {"import": total - stamped + times.pop("import", 0), **times}
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


def stalled(report: Report, log: Log, seconds: float, width: int) -> list[Row]:
    """Where a start stands that has not moved for some seconds, who is silent, and how to see more."""
    phase = report.context.phase
    since = next((part.line for part in reversed(report.context.timeline) if part.phase == phase), None)
    where = f"{phase or 'unknown'}, from line {since}" if since else phase or "unknown"
    text = f"vllm-triage: nothing has moved for {seconds:.0f} s; the last phase seen is {where}. It is left alone."
    rows = prose(text, width, "headline")
    silent = _last_words(log)
    for line in silent[:_MOST_PROCESSES]:
        name = f"{line.process} (pid {line.pid})" if line.pid else line.process or "last line"
        rows += prose(
            redact(line.text.strip()),
            width,
            indent="  ",
            lead=f"{redact(name)}, line {line.number}: ",
            most=2,
        )
    if unheard := _unheard(log):
        rows += prose(f"Not heard of so far: {unheard}", width, indent="  ")
    pid = next((line.pid for line in silent if line.pid), None)
    for advice in _ADVICE.get(phase or "", _OTHERWISE):
        rows += prose(advice.replace("PID", str(pid or "PID")), width, "faint", lead="- ")
    return rows


def _last_words(log: Log) -> list[Line]:
    """The last line of each process of this start; of a rank that others have overtaken first."""
    start = log.attempts[-1].start if log.attempts else 0
    last: dict[tuple[str, int | None], Line] = {}
    for line in log:
        if line.index >= start and line.text.strip():
            last[line.process, line.pid] = line
    named = [line for line in last.values() if line.process]
    return sorted(named or last.values(), key=lambda line: (line.role is not Role.WORKER, line.index))


def _unheard(log: Log) -> str:
    """Ranks that should be there and have said nothing about themselves."""
    said = [match for line in log if (match := _RANK.search(line.text))]
    size = max((int(match[1] or match[4]) for match in said), default=0)
    gone = sorted(set(range(size)) - {int(match[2] or match[3]) for match in said})
    return f"rank{'s' if len(gone) > 1 else ''} {', '.join(map(str, gone[:8]))} of {size}" if gone else ""
