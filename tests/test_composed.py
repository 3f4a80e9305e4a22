"""Logs composed from known parts around one planted cause: whatever the wrapping, it is found, with its line.

Each part is a form that vLLM 0.4 to 0.33 and its carriers write (docs/writing-rules.md lists what is undone).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scan.logs import CARRIERS
from vllm_triage import Triager

Lines = list[str]

TYPE = "ValueError"
CAUSE = (
    "To serve at least one request with the models's max seq len (32768), (4.00 GiB KV cache is needed, which is larger "
    "than the available KV cache memory (1.20 GiB). Based on the available memory, the estimated maximum model length is 9824."
)
RULE = "kv-cache-below-max-len"
OTHER = "Cannot find any model weights with `/models/other`"
SITE = "/venv/lib/python3.12/site-packages/vllm/v1"

HEADS: dict[str, Lines] = {
    "0.6": ["INFO 11-20 10:00:00 api_server.py:712] vLLM API server version 0.6.6"],
    "0.11": [
        "(APIServer pid=1) INFO 11-20 10:00:00 [api_server.py:1839] vLLM API server version 0.11.0",
        "(APIServer pid=1) INFO 11-20 10:00:00 [utils.py:233] non-default args: {'model': '/models/demo', 'error': 'CUDA out of memory'}",
    ],
    "0.32": [
        "(APIServer pid=1) INFO 11-20 10:00:00 [api_utils.py:347]   █▄█▀ █     █     █     █  version 0.32.0",
        "(APIServer pid=1) INFO 11-20 10:00:00 [api_utils.py:286] non-default args: {'model': '/models/demo'}",
    ],
}
NOISE = [
    "INFO 11-20 10:00:01 [importing.py:53] Triton module has been replaced with a placeholder.",
    "(EngineCore_DP0 pid=5) WARNING 11-20 10:00:01 [interface.py:171] Failed to import from vllm._C: ModuleNotFoundError(\"No module named 'vllm._C'\")",
    "(EngineCore_DP0 pid=5) INFO 11-20 10:00:02 [parallel_state.py:1208] rank 0 in world size 1 is assigned as DP rank 0, PP rank 0, TP rank 0, EP rank 0",
    "(Worker_TP0 pid=9) INFO 11-20 10:00:03 [gpu_model_runner.py:2602] Starting to load model /models/demo...",
    "/venv/lib/python3.12/site-packages/torch/cuda/__init__.py:63: FutureWarning: The pynvml package is deprecated.",
    "  import pynvml  # type: ignore[import]",
    "Capturing cudagraphs; if out-of-memory error occurs during capture, lower gpu_memory_utilization",
    "[Gloo] Rank 0 is connected to 0 peer ranks. Expected number of connected peer ranks is : 0",
    "",
]
TAIL = [
    "(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
    "/usr/lib/python3.12/multiprocessing/resource_tracker.py:279: UserWarning: resource_tracker: There appear to be 1 leaked shared_memory objects to clean up at shutdown",
]
READY = [
    "(APIServer pid=1) INFO:     Application startup complete.",
    '(APIServer pid=1) INFO:     10.0.0.9:5 - "GET /health HTTP/1.1" 200 OK',
]
STOP = [
    "(APIServer pid=1) INFO:     Shutting down",
    "(APIServer pid=1) INFO:     Finished server process [1]",
]


def traceback(message: str) -> Lines:
    return [
        "Traceback (most recent call last):",
        f'  File "{SITE}/engine/core.py", line 699, in run_engine_core',
        "    engine_core = EngineCoreProc(*args, **kwargs)",
        f'  File "{SITE}/core/kv_cache_utils.py", line 716, in check_enough_kv_cache_memory',
        "    raise ValueError(",
        f"{TYPE}: {message}",
    ]


def stamped(message: str, prefix: str, brackets: bool = True) -> Lines:
    origin = "[core.py:708]" if brackets else "core.py:708]"
    return [
        f"{prefix}ERROR 11-20 10:00:09 {origin} {line}"
        for line in ["EngineCore failed to start.", *traceback(message)]
    ]


def prefixed(message: str, prefix: str) -> Lines:
    return [f"{prefix}{line}" for line in ["Process EngineCore_DP0:", *traceback(message)]]


FAILURES: dict[str, Callable[[str], Lines]] = {
    "old stamps": lambda text: stamped(text, "", brackets=False),
    "new stamps": lambda text: stamped(text, ""),
    "engine core": lambda text: [
        *stamped(text, "(EngineCore_DP0 pid=5) "),
        *prefixed(text, "(EngineCore_DP0 pid=5) "),
    ],
    "engine core, raw copy": lambda text: [*stamped(text, "(EngineCore pid=5) "), *prefixed(text, "")],
    "worker": lambda text: stamped(text, "(Worker_TP0 pid=9) "),
    "worker with a blank": lambda text: stamped(text, "(VllmWorker rank=0 pid=9) "),
    "doubled prefix": lambda text: stamped(text, "(Worker pid=9) (Worker pid=9) "),
    "ray": lambda text: prefixed(text, "(RayWorkerWrapper pid=9, ip=10.0.0.7) "),
    "rank": lambda text: [f"[rank0]: {line}" for line in traceback(text)],
    "raw": traceback,
    "two workers, line by line": lambda text: [
        line
        for pair in zip(
            stamped(text, "(Worker_TP0 pid=9) "), stamped(text, "(Worker_TP1 pid=10) "), strict=True
        )
        for line in pair
    ],
}
BEFORE: dict[str, Lines] = {
    "nothing": [],
    "another failure": [*HEADS["0.11"], *[line.replace(TYPE, "RuntimeError") for line in stamped(OTHER, "(EngineCore_DP0 pid=3) ")], TAIL[0]],
    "a healthy run": [*HEADS["0.11"], *READY, *STOP],
    "the same failure": [*HEADS["0.11"], *stamped(CAUSE, "(EngineCore_DP0 pid=3) "), TAIL[0]],
}  # fmt: skip


@pytest.fixture(scope="module")
def triager() -> Triager:
    return Triager()


def check(triager: Triager, lines: Sequence[str], begins: int) -> None:
    """The planted cause is the answer, and its evidence stands in the last start of the log."""
    report = triager.triage("\n".join(lines))

    assert report.verdict == "failed"
    assert report.diagnoses, report.root_error
    assert report.diagnoses[0].rule == RULE
    evidence = report.diagnoses[0].evidence[0]
    assert CAUSE[:60] in evidence.text
    assert evidence.line > begins
    assert "32768" in lines[evidence.line - 1]
    assert report.diagnoses[0].fields["max_model_len"] == 32768


@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_the_planted_cause_is_found(triager: Triager, data: st.DataObject) -> None:
    head = data.draw(st.sampled_from(sorted(HEADS)))
    failure = data.draw(st.sampled_from(sorted(FAILURES)))
    before = BEFORE[data.draw(st.sampled_from(sorted(BEFORE)))]
    noise = data.draw(st.lists(st.sampled_from(NOISE), max_size=6))
    tail = TAIL[: data.draw(st.integers(0, len(TAIL)))]

    check(triager, [*before, *HEADS[head], *noise, *FAILURES[failure](CAUSE), *tail], len(before))


@pytest.mark.parametrize(("failure", "carrier"), list(itertools.product(sorted(FAILURES), sorted(CARRIERS))))
def test_the_planted_cause_is_found_in_each_carrier(triager: Triager, failure: str, carrier: str) -> None:
    lines = [*HEADS["0.11"], *NOISE[:4], *FAILURES[failure](CAUSE), *TAIL]

    check(triager, CARRIERS[carrier](lines), 0)


@pytest.mark.parametrize("before", sorted(BEFORE))
@pytest.mark.parametrize("head", sorted(HEADS))
def test_a_start_that_became_ready_is_healthy_whatever_came_before(
    triager: Triager, before: str, head: str
) -> None:
    report = triager.triage("\n".join([*BEFORE[before], *HEADS[head], *NOISE, *READY]))

    assert report.verdict == "healthy"
    assert not report.diagnoses


@pytest.mark.parametrize("noise", NOISE)
def test_noise_alone_is_no_failure(triager: Triager, noise: str) -> None:
    assert triager.triage("\n".join([*HEADS["0.11"], noise])).verdict == "inconclusive"
