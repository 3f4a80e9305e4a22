"""What a live log makes us say."""

from __future__ import annotations

import pytest

from vllm_triage import Triager
from vllm_triage.live.session import Session
from vllm_triage.live.watch import Event
from vllm_triage.model import Ending
from vllm_triage.report import Report

HEAD = "(APIServer pid=1) INFO 11-20 10:00:01 [api_server.py:1] vLLM API server version 0.11.0\n"
ERROR = "(APIServer pid=1) ERROR 11-20 10:00:09 [core.py:708] ValueError: To serve at least one request with the models's max seq len (32768), (4.0 GiB KV cache is needed, which is larger than the available KV cache memory (1.2 GiB).\n"
READY = "(APIServer pid=1) INFO:     Application startup complete.\n"
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
