"""What the log tells about the start."""

from __future__ import annotations

from collections.abc import Callable

from vllm_triage.model import Outcome

Judge = Callable[[str], Outcome]

START = """
INFO 10-02 09:14:01 [__init__.py:216] Automatically detected platform cuda.
(APIServer pid=1) INFO 10-02 09:14:05 [api_server.py:1839] vLLM API server version 0.11.0
(APIServer pid=1) INFO 10-02 09:14:05 [utils.py:233] non-default args: {'model': '/models/demo', 'max_model_len': 32768, 'task': <Task.AUTO: 1>}
(EngineCore_DP0 pid=5) INFO 10-02 09:14:25 [gpu_model_runner.py:2602] Starting to load model /models/demo...
(EngineCore_DP0 pid=5) INFO 10-02 09:14:55 [gpu_model_runner.py:2653] Model loading took 14.9889 GiB and 3.021 seconds
(EngineCore_DP0 pid=5) INFO 10-02 09:15:05 [gpu_worker.py:298] Available KV cache memory: 52.30 GiB
(EngineCore_DP0 pid=5) INFO 10-02 09:15:05 [kv_cache_utils.py:1087] GPU KV cache size: 412,320 tokens
(EngineCore_DP0 pid=5) INFO 10-02 09:15:20 [gpu_model_runner.py:3480] Graph capturing finished in 8 secs, took 0.55 GiB
(APIServer pid=1) INFO:     Application startup complete.
"""


def test_version_model_device_and_options_are_read(judge: Judge) -> None:
    context = judge(START).context

    assert (context.vllm_version, context.engine, context.model) == ("0.11.0", "v1", "/models/demo")
    assert context.device == "cuda"
    assert context.args["max_model_len"] == 32768


def test_memory_figures_have_their_units_in_their_names(judge: Judge) -> None:
    assert judge(START).context.memory == {
        "weights_gib": 14.9889,
        "kv_cache_gib": 52.3,
        "kv_cache_tokens": 412320.0,
        "graphs_gib": 0.55,
    }


def test_the_timeline_gives_each_phase_its_seconds(judge: Judge) -> None:
    timeline = judge(START).context.timeline

    assert ("weights", 30.0, 4) in timeline
    assert timeline[-1][0] == "serving"
