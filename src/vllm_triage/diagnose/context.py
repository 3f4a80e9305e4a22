"""What the log tells about the start, whatever became of it: version, model, options, phases and their times."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any, Literal

from vllm_triage.catalog.rule import Phase
from vllm_triage.diagnose.typed import typed_command
from vllm_triage.lazy import lazy
from vllm_triage.model import Context, Line

_VERSION = lazy(
    r"vLLM API server version v?(?P<a>\d[\w.+-]*)|LLM engine \(v?(?P<b>\d[\w.+-]*?)\)|█.{0,40}version +v?(?P<c>\d[\w.+-]*)|vLLM Version\s*: v?(?P<d>\d[\w.+-]*)"
)
_ARGS = lazy(r"non-default args: (?P<args>\{.*\})\s*$")
_MODEL = lazy(
    r"with config: model='(?P<a>[^']{1,300})'|█.{0,40}model +(?P<b>\S{1,300})\s*$|vllm serve (?P<c>[^\s-]\S{0,300})|--model[ =](?P<d>\S{1,300})|Starting to load model (?P<e>\S{1,300}?)\.{3}"
)
_V1 = lazy(r"Initializing a V1 LLM engine|vllm/v1/|EngineCore")
_V0 = lazy(r"Initializing a V0 LLM engine|Initializing an LLM engine|MQLLMEngine|vllm/worker/")
_DEVICE = lazy(r"Automatically detected platform (\w+)|device_config=(?<!\wdevice_config=)(\w+)")
# The last figure of a name counts; with several ranks they are those of one rank.
_MEMORY = {
    "weights_gib": lazy(r"[Mm]odel (?:weights |loading )?took ([\d.]+) ?Gi?B"),
    "kv_cache_gib": lazy(r"Available KV cache memory: (-?[\d.]+) ?GiB"),
    "graphs_gib": lazy(r"Graph capturing finished in .{1,20}, took (-?[\d.]+) ?GiB"),
    "kv_cache_tokens": lazy(r"KV cache size: ([\d,]+) tokens"),
}
_MAX_ARGS = 200_000


def context(
    lines: Sequence[Line], marks: Sequence[tuple[int, Phase]], attempts: int, phase: Phase | None
) -> Context:
    """Read the context of one attempt; `marks` are its phases, `phase` that of its failure, if known."""
    version = model = device = None
    memory: dict[str, float] = {}
    engine: Literal["v0", "v1"] | None = None
    args: dict[str, Any] = {}
    for line in lines:
        text = line.text
        if version is None and (match := _VERSION.search(text[:400])):
            version = next(group for group in match.groups() if group)
        if not args and (match := _ARGS.search(text[:_MAX_ARGS])):
            args = _parse_args(match["args"])
        if model is None and (match := _MODEL.search(text[:1000])):
            model = next(group for group in match.groups() if group)
        if device is None and (match := _DEVICE.search(text[:2000])):
            device = match[1] or match[2]
        if line.kind == "info" and ("took" in text or "KV cache" in text):
            memory |= {
                name: float(match[1].replace(",", ""))
                for name, pattern in _MEMORY.items()
                if (match := pattern.search(text[:300]))
            }
        if engine is None:
            engine = (
                "v1"
                if _V1.search(text[:600]) or line.process.startswith("EngineCore")
                else "v0"
                if _V0.search(text[:600])
                else None
            )
    model = args.get("model") or args.get("model_tag") or model
    return Context(
        vllm_version=version,
        engine=engine,
        model=model if isinstance(model, str) else None,
        device=device,
        args=args,
        memory=memory,
        phase=phase or (marks[-1][1] if marks else None),
        attempts=attempts,
        timeline=_timeline(lines, marks),
        argv=typed_command(lines),
    )


def _parse_args(text: str) -> dict[str, Any]:
    """The options of a `non-default args` echo; {} where they hold objects that are no literals."""
    try:
        parsed = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        pairs = re.findall(r"'(\w{1,60})': ('[^']{0,300}'|-?[\d.]+|True|False|None)", text[:20_000])
        return {
            name: ast.literal_eval(value) if value[:1] != "." else value
            for name, value in pairs
            if _literal(value)
        }
    return parsed if isinstance(parsed, dict) and all(isinstance(key, str) for key in parsed) else {}


def _literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return True


def _timeline(
    lines: Sequence[Line], marks: Sequence[tuple[int, Phase]]
) -> tuple[tuple[str, float | None, int], ...]:
    """(phase, seconds until the next phase or None, line number) of each phase seen."""
    by_index = {line.index: line for line in lines}
    times = [_seconds(by_index[index].stamp) for index, _ in marks]
    rows = []
    for at, (index, phase) in enumerate(marks):
        following = times[at + 1] if at + 1 < len(marks) else None
        begun = times[at]
        seconds = (
            following - begun if begun is not None and following is not None and following >= begun else None
        )
        rows.append((phase, seconds, by_index[index].number))
    return tuple(rows)


def _seconds(stamp: str) -> float | None:
    match = re.match(r"(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)$", stamp)
    if not match:
        return None
    month, day, hour, minute, second = map(int, match.groups())
    return float((((month * 31 + day) * 24 + hour) * 60 + minute) * 60 + second)
