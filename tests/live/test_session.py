"""What a live log makes us say."""

from __future__ import annotations

import pytest

from vllm_triage import Triager
from vllm_triage.live.session import Session
from vllm_triage.live.watch import Event
from vllm_triage.model import Ending
from vllm_triage.report import Report
from vllm_triage.report.announce import ready, stalled

HEAD = "(APIServer pid=1) INFO 11-20 10:00:01 [api_server.py:1] vLLM API server version 0.11.0\n"
ERROR = "(APIServer pid=1) ERROR 11-20 10:00:09 [core.py:708] ValueError: To serve at least one request with the models's max seq len (32768), (4.0 GiB KV cache is needed, which is larger than the available KV cache memory (1.2 GiB).\n"
READY = "(APIServer pid=1) INFO:     Application startup complete.\n"
SURVIVED = 'Traceback (most recent call last):\n  File "/usr/lib/demo/plugin.py", line 3, in load\n    raise ValueError(name)\nValueError: no optional plugin\n'
LOADING = "(Worker_TP0 pid=9) INFO 11-20 10:00:04 [gpu_model_runner.py:2602] Starting to load model /models/demo...\n"
CHECKPOINT = "(Worker_TP0 pid=9) INFO 11-20 10:00:05 [weight_utils.py:1108] Checkpoint size: 100.00 GiB.\n"
RANK0 = "(Worker_TP0 pid=9) INFO 11-20 10:00:04 [parallel_state.py:1] world_size=3 rank=0 local_rank=0\n"
RANK1 = "(Worker_TP1 pid=10) INFO 11-20 10:00:03 [parallel_state.py:1] world_size=3 rank=1 local_rank=1\n"
FATAL = "(EngineCore_DP0 pid=8) ERROR 11-21 09:30:00 [core.py:710] EngineCore encountered a fatal error.\n(EngineCore_DP0 pid=8) ERROR 11-21 09:30:00 [core.py:710] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
REQUEST = '(APIServer pid=1) ERROR 11-20 10:09:09 [serving.py:9] ValueError: bad request\n(APIServer pid=1) INFO:     10.0.0.1:5 - "POST /v1/completions HTTP/1.1" 400 Bad Request\n'


class Heard:
    def __init__(self, stall_after: float | None = None) -> None:
        self.events: list[tuple[Event, Report]] = []
        self.time = 0.0
        self.session = Session(
            Triager, lambda *event: self.events.append(event), stall_after, lambda: self.time
        )

    def after(self, text: str, seconds: float) -> list[Event]:
        """Feed a text, let some time go by, and return all that was announced so far."""
        if text:
            self.session.feed(text.encode())
        self.time += seconds
        self.session.tick()
        return [event for event, _ in self.events]


def test_a_server_that_becomes_ready_is_announced_and_its_end_reported() -> None:
    heard = Heard()

    assert heard.after(HEAD + READY, 1000) == ["ready"]
    assert heard.session.close().verdict == "healthy"


def test_a_failure_whose_writer_lives_on_is_reported_once_and_provisionally() -> None:
    heard = Heard()

    assert heard.after(HEAD + ERROR, 10) == ["failing"]
    assert heard.after("", 1000) == ["failing"]
    report = heard.events[0][1]
    assert report.provisional
    assert report.cause
    assert report.cause.rule == "kv-cache-below-max-len"
    assert not heard.session.close().provisional


def test_an_answered_request_error_is_not_announced() -> None:
    heard = Heard()

    assert heard.after(HEAD + READY + REQUEST, 100) == ["ready"]


def test_a_silent_start_is_announced_as_a_hang() -> None:
    heard = Heard(stall_after=60)

    assert heard.after(HEAD, 61) == ["stalled"]
    report = heard.events[0][1]
    assert report.provisional
    assert report.cause
    assert (report.cause.rule, report.cause.status) == ("startup-hang", "possible")
    assert heard.after(READY, 1) == ["stalled", "ready"]


def test_a_log_that_is_none_of_vllm_s_does_not_hang() -> None:
    assert Heard(stall_after=60).after("hello\n", 1000) == []


def test_an_error_that_the_start_survives_is_not_announced() -> None:
    heard = Heard()

    assert heard.after(HEAD + SURVIVED + LOADING, 50) == []
    assert heard.after(READY, 1) == ["ready"]


def test_an_error_that_no_rule_knows_is_given_time_to_be_survived() -> None:
    heard = Heard()

    assert [heard.after(HEAD + SURVIVED, 6), *(heard.after("", 6) for _ in range(3))] == [[]] * 4
    assert heard.after("", 10) == ["failing"]


def test_an_engine_that_dies_after_weeks_of_serving_is_announced() -> None:
    heard = Heard()
    heard.after(HEAD + READY, 1_000_000)

    assert heard.after(FATAL, 10) == ["ready", "failing"]


def test_large_weights_may_take_long() -> None:
    heard = Heard()

    assert heard.after(HEAD + LOADING + CHECKPOINT, 0) == []
    assert [heard.after("", 600) for _ in range(8)] == [[]] * 8
    assert heard.after("", 300) == ["stalled"]


def test_a_download_that_moves_is_no_stall() -> None:
    heard = Heard()

    assert [heard.after(f"\r{HEAD}model.safetensors: {n}%|##| {n}G/100G", 50) for n in range(100)][-1] == []


def test_a_stall_says_who_is_silent_and_what_shows_more() -> None:
    heard = Heard(stall_after=60)
    heard.after(HEAD + RANK1 + RANK0, 61)
    rows = [row.text for row in stalled(heard.events[0][1], heard.session.log, 61, 200)]

    assert rows[0].startswith(
        "vllm-triage: nothing has moved for 61 s; the last phase seen is distributed, from line 2."
    )
    assert rows[1].startswith("  Worker_TP1 (pid 10), line 2: world_size=3")
    assert "  Not heard of so far: rank 2 of 3" in rows
    assert "- py-spy dump --pid 10 shows where a process stands." in rows
    assert "NCCL_DEBUG=INFO" in rows[-1]


def test_what_a_stall_quotes_is_safe_to_print() -> None:
    heard = Heard(stall_after=60)
    heard.after(f"{HEAD}(Worker_TP0 pid=9) INFO 11-20 10:00:02 [x.py:1] \x07 token=hf_{'a1' * 12}\n", 61)
    text = "".join(row.text for row in stalled(heard.events[0][1], heard.session.log, 61, 80))

    assert "hf_a1" not in text
    assert "\x07" not in text


def test_the_time_before_the_first_line_is_that_of_the_imports() -> None:
    heard = Heard()
    heard.after(HEAD + LOADING + "INFO 11-20 10:00:33 [x.py:1] GPU KV cache size: 32,768 tokens\n" + READY, 1)

    assert ready(heard.events[0][1], 42) == (
        "vllm-triage: ready in 42 s: imports 10 s, arguments 3 s, weights 29 s, KV cache 32,768 tokens"
    )


def test_a_program_is_told_the_same_by_the_stream() -> None:
    heard: list[tuple[Event, Report]] = []
    clock = iter(range(0, 10_000, 20))
    stream = Triager().stream(on_event=lambda *event: heard.append(event), now=lambda: float(next(clock)))

    stream.feed(HEAD + ERROR)
    stream.tick()

    assert [(event, report.provisional) for event, report in heard] == [("failing", True)]
    assert stream.close().cause == heard[0][1].cause


@pytest.mark.parametrize(
    "log, status, verdict, rule",
    [
        (HEAD, -9, "failed", "host-oom-killed"),
        (HEAD, 137, "failed", "host-oom-killed"),
        (HEAD + READY, -9, "failed", "host-oom-killed"),
        (HEAD, -15, "failed", "stopped-from-outside"),
        (HEAD + READY, -15, "healthy", None),
        (HEAD, 1, "failed", None),
        (HEAD, -11, "failed", "worker-died"),
        (HEAD, 0, "inconclusive", None),
        (HEAD + ERROR, -9, "failed", "kv-cache-below-max-len"),
    ],
)
def test_the_exit_status_is_evidence(log: str, status: int, verdict: str, rule: str | None) -> None:
    heard = Heard()
    heard.session.feed(log.encode())

    report = heard.session.close(Ending(status=status))

    assert report.verdict == verdict
    assert (report.cause.rule if report.cause else None) == rule
    if verdict == "failed" and rule is None:
        assert report.missing
