"""Named functions that compute the value a remedy needs from the fields of the log.

Each takes the fields by name and returns a value, or None where they do not hold what it needs or
where no value would help. The names are those of `derive:` in a rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from vllm_triage.remedy import options, xid
from vllm_triage.remedy.templates import Value

_BLOCK = 16  # tokens of one KV cache block
_ROUNDING = 0.005  # GiB; vLLM prints two decimals
_WEIGHTS_SHARE = (
    0.75  # of a GPU's memory, for weights; the rest is for cache, activations and what is not ours
)
_MARGIN = 0.01  # of the GPU's memory, for what is taken between two starts


def largest_max_model_len(fields: Mapping[str, Value]) -> int | None:
    """The longest request that the KV cache holds, in tokens.

    vLLM's own estimate (`estimated_max_model_len`) where the log has it. Otherwise the cache grows
    with the length: `max_model_len * available_gib / needed_gib`, both figures taken at the worse end
    of their rounding, down to whole blocks of 16 tokens.
    """
    asked = _number(fields, "max_model_len")
    estimate = _number(fields, "estimated_max_model_len")
    if estimate is None:
        needed, available = _number(fields, "needed_gib"), _number(fields, "available_gib")
        if asked is None or needed is None or available is None or needed <= 0:
            return None
        estimate = asked * (available - _ROUNDING) / (needed + _ROUNDING)
        estimate = estimate // _BLOCK * _BLOCK
    if estimate < _BLOCK or (asked is not None and estimate >= asked):
        return None
    return int(estimate)


def _working_of_length(fields: Mapping[str, Value], value: Value) -> str:
    if _number(fields, "estimated_max_model_len") is not None:
        return f"{value} is vLLM's own estimate."
    return (
        f"{value} is {fields['max_model_len']} * ({fields['available_gib']} - {_ROUNDING}) / "
        f"({fields['needed_gib']} + {_ROUNDING}), down to whole blocks of {_BLOCK} tokens."
    )


def largest_gpu_memory_utilization(fields: Mapping[str, Value]) -> float | None:
    """The largest share of the GPU's memory that is free at start-up.

    `free_gib / total_gib - 0.01`, down to two decimals; None below 0.1, where nothing would start.
    """
    free, total = _number(fields, "free_gib"), _number(fields, "total_gib")
    if free is None or total is None or total <= 0:
        return None
    share = math.floor(round((free / total - _MARGIN) * 100, 6)) / 100
    return share if 0.1 <= share < 1 else None


def _working_of_share(fields: Mapping[str, Value], value: Value) -> str:
    return f"{value} is {fields['free_gib']} free of {fields['total_gib']} GiB, less {_MARGIN}, down to two decimals."


def smaller_tensor_parallel_size(fields: Mapping[str, Value]) -> int | None:
    """The largest tensor parallel size below the one asked for that can work.

    At most `gpus`; a divisor of `heads` where the log has them, else a power of two.
    """
    asked, gpus, heads = (_number(fields, name) for name in ("tensor_parallel_size", "gpus", "heads"))
    limits = [limit for limit in (gpus, asked - 1 if asked is not None else None) if limit is not None]
    if not limits or not 1 <= min(limits) <= 4096:
        return None
    limit = int(min(limits))
    if heads is None:
        return 1 << (limit.bit_length() - 1)
    return next((size for size in range(limit, 0, -1) if heads % size == 0), None)


def holding_tensor_parallel_size(fields: Mapping[str, Value]) -> int | None:
    """The smallest power of two of GPUs that hold the weights: `weights_gib` of each of `gpus` now, `gpu_gib` that one has.

    Nine tenths of a GPU count, and of those so much is left that a cache fits beside the weights. None
    where one GPU is enough, or where more than 64 would be needed.
    """
    weights, gpu = _number(fields, "weights_gib"), _number(fields, "gpu_gib")
    if weights is None or gpu is None or gpu <= 0:
        return None
    asked = int(_number(fields, "gpus") or 1)
    times = 2 ** max(math.ceil(math.log2(weights / (_WEIGHTS_SHARE * gpu))), 0) if weights > 0 else 1
    return asked * times if 1 < asked * times <= 64 and times > 1 else None


def option_last_release(fields: Mapping[str, Value]) -> str | None:
    """The last release that has the option `argument`, if it was removed since and the log's release is newer."""
    option, release = fields.get("argument"), fields.get("vllm_version")
    last = options.last_release(option) if isinstance(option, str) else None
    return last if last and _newer(release, last) else None


def option_first_release(fields: Mapping[str, Value]) -> str | None:
    """The first release that has the option `argument`, if it was added later than the log's release."""
    option, release = fields.get("argument"), fields.get("vllm_version")
    first = options.first_release(option) if isinstance(option, str) else None
    return first if first and isinstance(release, str) and not _newer(release, first) else None


def nearest_option(fields: Mapping[str, Value]) -> str | None:
    """The option of the log's release whose name is nearest to the unknown `argument`."""
    option, release = fields.get("argument"), fields.get("vllm_version")
    if not isinstance(option, str) or not option.startswith("-") or options.last_release(option):
        return None
    return options.nearest(option, release if isinstance(release, str) else None)


def xid_action(fields: Mapping[str, Value]) -> str | None:
    """What NVIDIA says to do about the Xid number `xid`."""
    number = _number(fields, "xid")
    return xid.action(int(number)) if number is not None else None


def _newer(release: Value | None, than: str) -> bool:
    from packaging.version import InvalidVersion, Version

    try:
        return not isinstance(release, str) or Version(release) > Version(than)
    except InvalidVersion:
        return True


FUNCTIONS: dict[str, Callable[[Mapping[str, Value]], Value | None]] = {
    "holding-tensor-parallel-size": holding_tensor_parallel_size,
    "largest-gpu-memory-utilization": largest_gpu_memory_utilization,
    "largest-max-model-len": largest_max_model_len,
    "nearest-option": nearest_option,
    "option-first-release": option_first_release,
    "option-last-release": option_last_release,
    "smaller-tensor-parallel-size": smaller_tensor_parallel_size,
    "xid-action": xid_action,
}


def derive(wanted: Mapping[str, str], fields: Mapping[str, Value]) -> dict[str, Value]:
    """The derived values that could be computed, by the names that the rule gives them."""
    made = {name: FUNCTIONS[function](fields) for name, function in wanted.items() if function in FUNCTIONS}
    return {name: value for name, value in made.items() if value is not None}


# How a value was computed, in words and figures.
_WORKINGS: dict[str, Callable[[Mapping[str, Value], Value], str]] = {
    "largest-gpu-memory-utilization": _working_of_share,
    "largest-max-model-len": _working_of_length,
}


def working(function: str, fields: Mapping[str, Value], value: Value) -> str:
    """One sentence with the arithmetic behind a derived value; empty for one that is looked up."""
    return _WORKINGS[function](fields, value) if function in _WORKINGS else ""


def _number(fields: Mapping[str, Value], name: str) -> float | None:
    value = fields.get(name)
    return value if isinstance(value, (int, float)) and math.isfinite(value) else None
