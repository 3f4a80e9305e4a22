"""Accidents that befell other tools, each as a log that must not fool this one."""

from __future__ import annotations

import pytest

from vllm_triage import Report, Triager

BANNER = "(APIServer pid=1) INFO 11-20 10:00:00 [api_server.py:1839] vLLM API server version 0.11.0"
ENGINE = "(EngineCore_DP0 pid=5) INFO 11-20 10:00:02 [core.py:77] Initializing a V1 LLM engine (v0.11.0) with config: model='/models/demo', trust_remote_code=False, kv_cache_dtype=auto"
READY = "(APIServer pid=1) INFO:     Application startup complete."
OOM = "(EngineCore_DP0 pid=5) ERROR 11-20 10:00:09 [core.py:708] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 1.16 GiB is free."
WRAPPER = "(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"
NO_WEIGHTS = "(Worker_TP0 pid=9) ERROR 11-20 10:00:05 [multiproc_executor.py:597] RuntimeError: Cannot find any model weights with `/models/demo`"
STALL = "(EngineCore_DP0 pid=5) INFO 11-20 10:0{}:00 [shm_broadcast.py:466] No available shared memory broadcast block found in 60 seconds. This typically happens when some processes are hanging or doing some time-consuming work (e.g. compilation)."


@pytest.fixture(scope="module")
def triager() -> Triager:
    return Triager()


def named(report: Report) -> list[str]:
    return [diagnosis.rule for diagnosis in report.diagnoses]


def test_a_config_echo_names_no_cause(triager: Triager) -> None:
    report = triager.triage("\n".join([BANNER, ENGINE, READY]))

    assert (report.verdict, named(report)) == ("healthy", [])


def test_the_oom_of_the_start_before_is_not_that_of_a_healthy_run(triager: Triager) -> None:
    report = triager.triage("\n".join([BANNER, OOM, WRAPPER, BANNER, ENGINE, READY]))

    assert (report.verdict, named(report)) == ("healthy", [])
    assert report.context.attempts == 2


def test_a_follower_event_is_not_the_cause(triager: Triager) -> None:
    follower = "(Worker_TP1 pid=10) ERROR 11-20 10:00:07 [multiproc_executor.py:597] torch.distributed.DistStoreError: Connection was likely closed. Failed to recv, got 0 bytes"
    report = triager.triage("\n".join([BANNER, follower, NO_WEIGHTS, WRAPPER]))

    assert named(report)[0] == "weights-missing"


def test_advice_is_no_anchor(triager: Triager) -> None:
    advice = "(EngineCore_DP0 pid=5) ERROR 11-20 10:00:09 [core.py:708] ValueError: the frob is upside down. Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine."
    report = triager.triage("\n".join([BANNER, advice, WRAPPER]))

    assert named(report) == []
    assert report.root_error is not None


def test_evidence_far_from_the_tail_is_found(triager: Triager) -> None:
    noise = [
        f"(APIServer pid=1) DEBUG 11-20 10:00:09 [core.py:{at}] waiting for the engine"
        for at in range(60_000)
    ]
    report = triager.triage("\n".join([BANNER, *noise[:20_000], NO_WEIGHTS, *noise, WRAPPER]))

    assert named(report)[0] == "weights-missing"
    assert report.diagnoses[0].evidence[0].line == 20_002


def test_the_first_failure_of_a_crash_loop_is_mentioned(triager: Triager) -> None:
    report = triager.triage("\n".join([BANNER, NO_WEIGHTS, WRAPPER, *[BANNER, OOM, WRAPPER] * 3]))

    assert named(report)[0].startswith("cuda-oom")
    assert [notice.rule for notice in report.notices] == ["weights-missing"]
    assert report.context.attempts == 4


def test_capitals_do_not_decide(triager: Triager) -> None:
    report = triager.triage("\n".join([BANNER, NO_WEIGHTS.replace("Cannot find any", "cannot Find Any")]))

    assert named(report)[0] == "weights-missing"


def test_killed_after_an_exception_is_cleanup(triager: Triager) -> None:
    report = triager.triage("\n".join([BANNER, NO_WEIGHTS, WRAPPER, "Killed"]))

    assert named(report)[0] == "weights-missing"


def test_out_of_memory_in_a_healthy_info_line_is_no_failure(triager: Triager) -> None:
    capture = "(Worker_TP0 pid=9) INFO 11-20 10:00:09 [model_runner.py:1442] Capturing cudagraphs for decoding. This may lead to unexpected consequences if the model is not static. If out-of-memory error occurs during cudagraph capture, consider decreasing `gpu_memory_utilization` or switching to eager mode."
    report = triager.triage("\n".join([BANNER, ENGINE, capture, READY]))

    assert (report.verdict, named(report)) == ("healthy", [])


def test_a_long_compile_is_no_stall(triager: Triager) -> None:
    compile_ = (
        "(EngineCore_DP0 pid=5) INFO 11-20 10:09:00 [monitor.py:34] torch.compile takes 511.02 s in total"
    )
    report = triager.triage(
        "\n".join([BANNER, ENGINE, *[STALL.format(at) for at in range(1, 6)], compile_, READY])
    )

    assert (report.verdict, named(report)) == ("healthy", [])


def test_two_logs_written_line_by_line_into_one(triager: Triager) -> None:
    def copy(process: str, exception: str) -> list[str]:
        stamp = f"({process} pid=9) ERROR 11-20 10:00:05 [multiproc_executor.py:597] "
        frames = ["Traceback (most recent call last):", '  File "/opt/vllm/worker.py", line 1, in load']
        return [stamp + line for line in [*frames, exception]]

    one = copy("Worker_TP0", "RuntimeError: Cannot find any model weights with `/models/demo`")
    other = copy("Worker_TP1", "BrokenPipeError: [Errno 32] Broken pipe")
    report = triager.triage(
        "\n".join([BANNER, *[line for pair in zip(other, one, strict=True) for line in pair], WRAPPER])
    )

    assert named(report)[0] == "weights-missing"
    assert report.diagnoses[0].evidence[0].process == "Worker_TP0"
