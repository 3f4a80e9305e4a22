"""Logs to measure with, of our own text: healthy, failing, dense and hostile ones of any size."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

_START = [
    "INFO 12-01 09:14:01 [__init__.py:216] Automatically detected platform cuda.",
    "(APIServer pid=12) INFO 12-01 09:14:05 [api_server.py:1839] vLLM API server version 0.11.0",
    "(APIServer pid=12) INFO 12-01 09:14:05 [utils.py:233] non-default args: {'model': '/models/demo', 'max_model_len': 32768}",
    "(EngineCore_DP0 pid=271) INFO 12-01 09:14:20 [core.py:77] Initializing a V1 LLM engine (v0.11.0) with config: model='/models/demo'",
    "(EngineCore_DP0 pid=271) INFO 12-01 09:14:24 [gpu_model_runner.py:2602] Starting to load model /models/demo...",
    "(EngineCore_DP0 pid=271) INFO 12-01 09:14:40 [gpu_model_runner.py:2653] Model loading took 14.9889 GiB and 14.1 seconds",
    "(EngineCore_DP0 pid=271) INFO 12-01 09:14:52 [gpu_worker.py:298] Available KV cache memory: 52.61 GiB",
]
_READY = [
    "(APIServer pid=12) INFO:     Started server process [12]",
    "(APIServer pid=12) INFO:     Application startup complete.",
]
_STAMP = "(EngineCore_DP0 pid=271) ERROR 12-01 09:14:53 [core.py:708] "
_FAILURE = [
    _STAMP + "EngineCore failed to start.",
    _STAMP + "Traceback (most recent call last):",
    _STAMP + '  File "/usr/local/lib/python3.12/dist-packages/vllm/v1/core/kv_cache_utils.py", line 716, in check_enough_kv_cache_memory',
    _STAMP + "    raise ValueError(",
    _STAMP + "ValueError: To serve at least one request with the models's max seq len (32768), (4.00 GiB KV cache is needed, which is larger than the available KV cache memory (1.20 GiB).",
    "(APIServer pid=12) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
]  # fmt: skip


def _serving(number: int) -> str:
    return (
        f"(APIServer pid=12) INFO 12-01 {number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d} [loggers.py:127] Engine 000: "
        f"Avg prompt throughput: {number % 977 / 10:.1f} tokens/s, Avg generation throughput: {number % 4999 / 10:.1f} tokens/s, "
        f"Running: {number % 64} reqs, Waiting: 0 reqs, GPU KV cache usage: {number % 100}.0%"
    )


def _debug(number: int) -> str:
    return f"(EngineCore_DP0 pid=271) DEBUG 12-01 09:14:{number % 60:02d} [weight_utils.py:{number % 900}] Loaded tensor {number} of the checkpoint"


def _dense(number: int) -> str:
    return f"(APIServer pid=12) ERROR 12-01 09:15:{number % 60:02d} [serving_chat.py:{number % 900}] ValueError: request {number} is longer than allowed"


def _fill(head: list[str], line: Callable[[int], str], tail: list[str], size: int) -> bytes:
    unit = "".join(f"{line(number)}\n" for number in range(20_000)).encode()
    ends = ["\n".join(part).encode() + b"\n" if part else b"" for part in (head, tail)]
    room = max(size - sum(map(len, ends)), 0)
    body = (unit * (room // len(unit) + 1))[:room]
    return ends[0] + body[: body.rfind(b"\n") + 1] + ends[1]


KINDS: dict[str, Callable[[int], bytes]] = {
    "healthy": lambda size: _fill(_START + _READY, _serving, [], size),
    "failing": lambda size: _fill(_START, _debug, _FAILURE, size),
    "dense": lambda size: _fill(_START + _READY, _dense, [], size),
    "one line": lambda size: b"x" * size,
    "NUL": lambda size: b"\0" * size,
    "progress bars": lambda size: b"\rLoading safetensors checkpoint shards:  10%|#         | 1/9 [00:01<00:08]" * (size // 76),
    "out of memory": lambda size: (b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB.\n" * (size // 72 + 1))[:size],
}  # fmt: skip


def make(folder: Path, kind: str, size: int) -> Path:
    """Write a log of about `size` bytes and return its path."""
    path = folder / f"{kind.replace(' ', '-')}-{size}.log"
    path.write_bytes(KINDS[kind](size))
    return path
