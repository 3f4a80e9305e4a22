"""In which phase of the start something happened."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vllm_triage.log.phases import markers, of_frames, phase_at
from vllm_triage.model import Frame, Log

SITE = "/venv/lib/python3.12/site-packages"


@pytest.mark.parametrize(
    ("path", "function", "phase"),
    [
        (f"{SITE}/vllm/v1/worker/gpu_model_runner.py", "profile_run", "profile"),
        (f"{SITE}/vllm/v1/worker/gpu_model_runner.py", "capture_model", "graph-capture"),
        (f"{SITE}/vllm/v1/worker/gpu_model_runner.py", "_dummy_sampler_run", "warm-up"),
        (f"{SITE}/vllm/v1/worker/gpu_model_runner.py", "initialize_kv_cache_tensors", "kv-cache"),
        (f"{SITE}/vllm/model_executor/model_loader/base_loader.py", "load_model", "weights"),
        (f"{SITE}/torch/cuda/graphs.py", "capture_end", "graph-capture"),
        (f"{SITE}/vllm/worker/worker.py", "init_device", "distributed"),
        (f"{SITE}/vllm/engine/arg_utils.py", "create_engine_config", "config"),
        (f"{SITE}/vllm/engine/llm_engine.py", "run_engine_loop", "serving"),
    ],
)
def test_a_frame_tells_the_phase(path: str, function: str, phase: str) -> None:
    assert (
        of_frames([Frame("x.py", 1, "main"), Frame(path, 2, function), Frame("/torch/nn.py", 3, "forward")])
        == phase
    )


def test_the_narrower_phase_wins(  # profiling the graphs' memory allocates them
) -> None:
    frames = [Frame("w.py", 1, "determine_available_memory"), Frame("r.py", 2, "capture_model")]

    assert of_frames(frames) == "graph-capture"


def test_unknown_frames_tell_nothing() -> None:
    assert of_frames([Frame("/app/x.py", 1, "main")]) is None


def test_the_last_marker_before_a_line_tells_the_phase(read: Callable[[str], Log]) -> None:
    log = read(
        """
        INFO 11-20 10:00:00 [utils.py:233] non-default args: {}
        INFO 11-20 10:00:01 [gpu_model_runner.py:2602] Starting to load model demo...
        something
        INFO 11-20 10:00:09 [kv_cache_utils.py:1087] GPU KV cache size: 32,768 tokens
        """
    )
    marks = markers(list(log))

    assert [phase for _, phase in marks] == ["arguments", "weights", "kv-cache"]
    assert phase_at(marks, 2) == "weights"


def test_the_end_of_profiling_is_not_profiling(read: Callable[[str], Log]) -> None:
    log = read(
        """
        INFO 11-20 10:00:01 [model_runner.py:1099] Loading model weights took 14.9888 GB
        INFO 11-20 10:00:03 [worker.py:267] Memory profiling takes 4.26 seconds
        """
    )

    assert [phase for _, phase in markers(list(log))] == ["profile", "kv-cache"]


def test_what_ray_prints_late_begins_no_phase(read: Callable[[str], Log]) -> None:
    log = read(
        """
        (RayWorkerWrapper pid=7) INFO 11-20 10:00:05 [model_runner.py:1442] Capturing cudagraphs for decoding.
        (RayWorkerWrapper pid=8) INFO 11-20 10:00:03 [worker.py:267] Memory profiling takes 4.26 seconds [repeated 3x across cluster]
        """
    )

    assert [phase for _, phase in markers(list(log))] == ["graph-capture"]


def test_without_a_marker_before_it_one_right_after_a_line_tells_the_phase() -> None:
    assert phase_at([(3, "weights"), (9, "serving")], 1) == "weights"
    assert phase_at([(30, "arguments")], 1) is None
