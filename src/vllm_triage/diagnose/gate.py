"""Whether an attempt failed at all, and which of its lines can speak of the failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from vllm_triage.lazy import lazy
from vllm_triage.log.attempts import PROBE, SERVING, SHUTDOWN
from vllm_triage.model import Attempt, ErrorBlock, Line, Role

# What ends a server that was ready. Everything else was answered, retried or survived.
_FATAL = lazy(
    r"EngineCore encountered (?:a fatal error|an issue)|EngineDeadError|Engine loop is not running|Background loop (?:has errored|is not running)"
    r"|AsyncLLM output_handler failed|ot fatal signal from worker|terminating server process|died unexpectedly|EngineCore died"
    r"|Fatal Python error|Segfault encountered|terminate called|Segmentation fault|^Killed$|\b(?:Killed|Aborted|Bus error)(?: +\(core dumped\))? +\S*vllm |Watchdog caught collective|error while attempting to bind on address|exit code: -(?!15\b|2\b)\d|OOMKilled|oom-kill"
)
# V0's engine loop says nothing more of the exception that it ends with than its repr.
_ENGINE_LOOP = lazy(r"[A-Z]\w{2,60}(?:Error|Exception)\(")
_OF_DEVICE = lazy(r"(?:CUDA|HIP|NCCL|NPU|XPU)\b.{0,20}? [Ee]rror|(?:CUDA|HIP|NPU|XPU) out of memory")
# What uvicorn says at the end of a server that had been up.
_ORDERLY_END = lazy(
    r"Shutting down$|Shutting down FastAPI HTTP server|Waiting for (?:background tasks|connections) to c"
)
_LAST_LINES = 8


@dataclass(frozen=True)
class Stage:
    """The part of an attempt that is judged: lines [start, end)."""

    kind: Literal["starting", "serving", "stopped", "served"]
    start: int
    end: int
    told: Line | None = None


def stage(
    lines: Sequence[Line], blocks: Sequence[ErrorBlock], attempt: Attempt, told: Line | None = None
) -> Stage:
    """Which part of the attempt decides.

    `blocks` are the exceptions that are no mere consequences, `told` is the first line that says it was
    told to stop.

    "starting": it never became ready. "serving": it was ready and something fatal follows. "served":
    it was ready and nothing fatal follows. "stopped": a signal ended it before it was ready or failed.
    """
    serious = [block for block in blocks if block.level not in {"WARNING", "INFO", "DEBUG"}]
    ready = _ready_at(lines, serious, attempt)
    if ready is None:
        first = next(
            (b.lines[0].index for b in serious if b.name not in {"KeyboardInterrupt", "SystemExit"}), None
        )
        # The API server ends its engine with a signal, too, when it fails itself and says so at its end.
        by_parent = told is not None and first is not None and _speaks_of_engine(told)
        ended = next((line.index for line in lines if _ORDERLY_END.match(line.text.strip())), None)
        if ended is not None and (first is None or ended < first) and not _bind_failed(lines):
            # The beginning is cut off: a server that ends in order had been ready.
            return Stage("served", attempt.start, ended)
        if told is not None and not by_parent and (first is None or told.index <= first):
            return Stage("stopped", attempt.start, attempt.end, told)
        return Stage("starting", attempt.start, attempt.end)
    stop = _stop_at(lines, ready)
    end = attempt.end if stop is None else stop
    fatal = [line for line in lines if ready < line.index < end and _is_fatal(line)]
    after = [block for block in serious if ready < block.lines[0].index < end and not _of_request(block)]
    # What an answer follows was survived, unless it is the device that failed.
    answered = max((line.index for line in lines if _is_answer(line)), default=ready)
    after = [block for block in after if block.lines[-1].index > answered or _OF_DEVICE.search(block.message)]
    stamped = any(b.lines[0].role in {Role.WORKER, Role.ENGINE} and b.level == "ERROR" for b in after)
    last = _last_index(lines, end)
    closing = any(block.lines[-1].index > last - _LAST_LINES or _in_vllm(block) for block in after)
    if fatal or stamped or (closing and stop is None):
        return Stage("serving", ready + 1, end)
    return Stage("served", ready + 1, end)


def _speaks_of_engine(line: Line) -> bool:
    return line.role in {Role.ENGINE, Role.WORKER} or "EngineCore" in line.text


def _bind_failed(lines: Sequence[Line]) -> bool:
    return any("error while attempting to bind on address" in line.text for line in lines)


def _ready_at(lines: Sequence[Line], serious: Sequence[ErrorBlock], attempt: Attempt) -> int | None:
    if attempt.ready is not None:
        return attempt.ready.index
    # The beginning is cut off. What had failed before the first answer is no start that went well.
    failed = min((block.lines[0].index for block in serious), default=attempt.end)
    for line in lines:
        if _is_fatal(line):
            return None
        if SERVING.search(line.text[:300]) and (line.index < failed or _is_answer(line)):
            return line.index
    return None


def _stop_at(lines: Sequence[Line], ready: int) -> int | None:
    return next(
        (
            line.index
            for line in lines
            if line.index > ready
            and line.kind not in {"source", "aside"}
            and SHUTDOWN.search(line.text[:200])
        ),
        None,
    )


def _last_index(lines: Sequence[Line], end: int) -> int:
    return next((line.index for line in reversed(lines) if line.index < end and line.text.strip()), end)


def _of_request(block: ErrorBlock) -> bool:
    """Whether one request failed, in its handler or in a client that shares the log: no server ends of it."""
    return block.type.startswith("openai.") or any(
        "/starlette/" in frame.file or "/uvicorn/protocols/" in frame.file for frame in block.frames
    )


def _in_vllm(block: ErrorBlock) -> bool:
    return any("/vllm/" in frame.file for frame in block.frames)


def _is_answer(line: Line) -> bool:
    """Whether a request was answered; a probe is answered for a while by a server whose engine is gone."""
    head = line.text[:300]
    return SERVING.search(head) is not None and not PROBE.search(head)


def _is_fatal(line: Line) -> bool:
    if line.kind == "aside":
        return False
    of_loop = line.level == "ERROR" and line.origin.startswith("engine.py:")
    return bool(_FATAL.search(line.text[:400]) or (of_loop and _ENGINE_LOOP.match(line.text)))
