"""Several starts in one log: where each begins, when it was ready, when its orderly end began."""

from __future__ import annotations

from collections.abc import Sequence

from vllm_triage.lazy import lazy
from vllm_triage.model import Attempt, ErrorBlock, Line

_START = lazy(
    r"vLLM API server version |non-default args: |█.{0,60}version +v?\d|▄.{0,60}version +v?\d|▀.{0,60}version +v?\d"
    r"|vLLM server version |version (?<!\wversion )(?<![\w)\]:] version )\d+\.\d+\.\d+\S* *$"
)
# A supervisor that starts the server again.
_RESTART = lazy(
    r"Scheduled restart job, restart counter is at|systemd\[1\]: Start(?:ed|ing) |Back-off restarting failed container"
    r"| exited with code \d+ \(restarting\)"
)
_ENGINE_START = lazy(r"Initializing an? (?:V\d )?LLM engine")
# Said early in every process. Alone it begins nothing; with a clock that went back it does. (A clock that
# goes back proves little by itself: the dates of a log made anonymous do, and so do ranks on other hosts.)
_EARLY = lazy(
    r"Automatically detected platform |Initializing an? (?:V\d )?LLM engine|Resolved architecture: "
)
# Not "until", "when", "once" or "if the server is ready".
READY = lazy(
    r"Application startup complete|Uvicorn running on |server is ready(?<!cold server is ready)(?<![lnef] the server is ready)|Starting vLLM server on .{0,80}ready"
)
SERVING = lazy(
    r"Avg prompt throughput: |Avg generation throughput: |Engine 0*\d+: Avg |HTTP/1\.[01]\" 200|Processed prompts: "
    # An answer that is no success is an answer, too, but a 500 can come from a server whose engine is dead.
    r"|^\S{1,60} - \"(?:GET|POST|PUT|DELETE|HEAD|OPTIONS) /\S{0,200} HTTP/[\d.]+\" [1-4]\d\d"
)
# Questions about the server that need no engine to be answered.
PROBE = lazy(
    r'"(?:GET|HEAD) /(?:metrics|health\w*|ping|live\w*|ready\w*|version|load|docs|openapi\.json|v1/models|v2/health\S*|server_info|favicon\.ico)?/?(?:\?\S*)? HTTP/'
)
# What an orderly end begins with; everything after it belongs to the end.
SHUTDOWN = lazy(
    r"Shutting down(?! executor)|Received (?:signal )?(?:SIGTERM|SIGINT|signal (?:15|2)\b)|SIGTERM received|SIGINT received|Received termination signal|Received exit signal"
    r"|KeyboardInterrupt|Waiting for application shutdown|Application shutdown complete|Finished server process"
    r"|Shutdown initiated|\[shutdown\] (?:API server|signal)|Stopping container|Stopped .{0,60}\bservice|slurmstepd: error: \*\*\* (?:JOB|STEP)"
    r"|CANCELLED AT \S+ DUE TO TIME LIMIT|Gracefully stopping"
)


_TRACEBACK = lazy(r"\s*Traceback \(")
_HEAD = 200
# One search finds the few lines that any of them is in.
_ANY = lazy("|".join(one.pattern for one in (_START, _RESTART, _ENGINE_START, _EARLY, READY, SHUTDOWN)))


def split_attempts(lines: Sequence[Line], blocks: Sequence[ErrorBlock]) -> tuple[Attempt, ...]:
    """Cut where a start begins, once the part before it has failed or become ready.

    A start begins with vLLM's banner or options, with a supervisor's notice, with an API server of
    another pid, or with an early message and a clock that has gone back. These repeat within one
    start, which is why none of them alone cuts anything.
    """
    failures = {block.lines[0].index for block in blocks if block.level not in {"WARNING", "INFO", "DEBUG"}}
    told = [line for line in lines if _ANY.search(line.text, 0, _HEAD)]
    heads = {line.index: line.text[:_HEAD] for line in told}
    has_banner = any(_START.search(heads[line.index]) for line in told if line.level in {"INFO", ""})
    marker = _START if has_banner else _ENGINE_START
    cuts, over = [0], False
    successors = _successors(lines)
    clock = ""
    for line in lines:
        head = heads.get(line.index, "")
        went_back = len(line.stamp) == len(clock) and line.stamp < clock
        clock = line.stamp if line.origin and line.stamp else clock
        if (
            marker.search(head)
            or line.index in successors
            or _RESTART.search(head)
            or (went_back and _EARLY.search(head))
        ):
            if over:
                cuts.append(line.index)
            over = False
        elif line.index in failures or (
            line.kind != "aside" and (READY.search(head) or SHUTDOWN.search(head))
        ):
            over = True
    ends = [*cuts[1:], len(lines)]
    return tuple(_attempt(told, start, end) for start, end in zip(cuts, ends, strict=True))


def _successors(lines: Sequence[Line]) -> set[int]:
    """Indexes of the first lines of API servers that write only after all before them have ended.

    One whose first line is a traceback is no new start: several API servers fail of one engine, each in turn.
    """
    first: dict[int | None, int] = {}
    last: dict[int | None, int] = {}
    for line in lines:
        if line.process == "APIServer":
            first.setdefault(line.pid, line.index)
            last[line.pid] = line.index
    return {
        begin
        for pid, begin in first.items()
        if not _TRACEBACK.match(lines[begin].text)
        and any(first[other] < begin for other in first)
        and all(last[other] < begin for other in first if first[other] < begin)
    }


def _attempt(told: Sequence[Line], start: int, end: int) -> Attempt:
    own = [line for line in told if start <= line.index < end and line.kind != "aside"]
    ready = next((line for line in own if READY.search(line.text[:_HEAD])), None)
    shutdown = next((line for line in own if _is_shutdown(line)), None)
    return Attempt(start, end, ready, shutdown)


def _is_shutdown(line: Line) -> bool:
    return line.kind not in {"source"} and SHUTDOWN.search(line.text[:_HEAD]) is not None
