"""What an exit status says where the log is silent."""

from __future__ import annotations

import signal

import pytest

from vllm_triage import Report, Triager
from vllm_triage.model import Ending

STARTED = (
    "(APIServer pid=7) INFO 10-02 09:14:40 [api_server.py:1896] vLLM API server version 0.11.0\n"
    "(EngineCore_DP0 pid=271) INFO 10-02 09:14:45 [gpu_model_runner.py:2602] Starting to load model /models/demo...\n"
)
READY = f"{STARTED}(APIServer pid=7) INFO:     Application startup complete.\n"
ENGINE_GONE = f"{STARTED}(APIServer pid=7) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {{}}\n"
KNOWN = f"{STARTED}(EngineCore_DP0 pid=271) ERROR 10-02 09:14:46 [core.py:1] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"


@pytest.fixture(scope="module")
def triager() -> Triager:
    return Triager()


def ended(triager: Triager, log: str, ending: Ending) -> Report:
    stream = triager.stream()
    stream.feed(log)
    return stream.close(ending)


@pytest.mark.parametrize(
    "log, ending, verdict, rule, status",
    [
        # A kill that was counted decides, in a container and under a shell, too.
        (STARTED, Ending(status=-9, oom_kills=1), "failed", "host-oom-killed", "confirmed"),
        (STARTED, Ending(status=137, oom_kills=1), "failed", "host-oom-killed", "confirmed"),
        (ENGINE_GONE, Ending(status=1, oom_kills=1), "failed", "host-oom-killed", "confirmed"),
        (READY, Ending(status=-9, oom_kills=1), "failed", "host-oom-killed", "confirmed"),
        # None was counted: somebody sent the signal.
        (STARTED, Ending(status=-9, oom_kills=0), "failed", "stopped-from-outside", "confirmed"),
        # Nothing counts here.
        (STARTED, Ending(status=-9), "failed", "host-oom-killed", "possible"),
        (STARTED, Ending(status=-signal.SIGSEGV, oom_kills=0), "failed", "worker-died", "confirmed"),
        (STARTED, Ending(status=-signal.SIGTERM), "failed", "stopped-from-outside", "confirmed"),
        (STARTED, Ending(status=0, told=True), "failed", "stopped-from-outside", "confirmed"),
        # What the log names stays, and a kill of another process is no reason for it.
        (KNOWN, Ending(status=1, oom_kills=1), "failed", "cuda-oom-weights", "likely"),
        (KNOWN, Ending(status=0), "failed", "cuda-oom-weights", "likely"),
    ],
)
def test_the_cause(triager: Triager, log: str, ending: Ending, verdict: str, rule: str, status: str) -> None:
    report = ended(triager, log, ending)

    assert report.verdict == verdict
    assert report.cause is not None
    assert (report.cause.rule, report.cause.status) == (rule, status)


@pytest.mark.parametrize(
    "log, ending, verdict",
    [
        (STARTED, Ending(status=0), "inconclusive"),
        (READY, Ending(status=0), "healthy"),
        (READY, Ending(status=-signal.SIGTERM), "healthy"),
        (READY, Ending(status=-9, told=True), "healthy"),
        (f"{READY}INFO:     Shutting down\n", Ending(status=1), "healthy"),
    ],
)
def test_an_end_that_is_no_failure(triager: Triager, log: str, ending: Ending, verdict: str) -> None:
    report = ended(triager, log, ending)

    assert (report.verdict, report.cause) == (verdict, None)


@pytest.mark.parametrize("log", ["", STARTED, READY])
def test_a_status_alone_is_a_failure_without_a_cause(triager: Triager, log: str) -> None:
    report = ended(triager, log, Ending(status=3))

    assert (report.verdict, report.cause) == ("failed", None)
    assert "ended with status 3" in (report.missing or "")


def test_the_evidence_is_the_last_line_and_the_check_gives_the_status(triager: Triager) -> None:
    cause = ended(triager, STARTED, Ending(status=-9, oom_kills=1)).cause

    assert cause is not None
    assert [evidence.line for evidence in cause.evidence] == [2]
    assert "ended by SIGKILL, and 1 killed for memory" in cause.checks[0].detail


def test_an_empty_log_has_no_evidence_and_a_cause(triager: Triager) -> None:
    cause = ended(triager, "", Ending(status=-9, oom_kills=1)).cause

    assert cause is not None
    assert cause.rule == "host-oom-killed"
    assert cause.evidence == ()
