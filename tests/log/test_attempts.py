"""Several starts in one log."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vllm_triage.model import Log

Read = Callable[[str], Log]

BANNER = "INFO 11-20 10:00:00 [api_server.py:1] vLLM API server version 0.11.0"
ARGS = "INFO 11-20 10:00:00 [utils.py:233] non-default args: {'model': 'x'}"
ENGINE = "INFO 11-20 10:00:01 [core.py:69] Initializing a V1 LLM engine (v0.11.0) with config: model='x'"
FAILURE = "ERROR 11-20 10:00:02 [core.py:708] ValueError: no room"
READY = "INFO:     Application startup complete."
STOP = "INFO 11-20 10:09:00 [launcher.py:99] Shutting down FastAPI HTTP server."


def test_the_markers_of_one_start_cut_nothing(read: Read) -> None:
    assert len(read("\n".join([BANNER, ARGS, ENGINE, READY])).attempts) == 1


def test_a_banner_after_a_failure_begins_the_next_start(read: Read) -> None:
    attempts = read("\n".join([BANNER, ARGS, FAILURE, BANNER, ARGS, READY])).attempts

    assert [(attempt.start, attempt.end) for attempt in attempts] == [(0, 3), (3, 6)]
    assert attempts[0].ready is None
    assert attempts[1].ready is not None


def test_a_banner_after_an_orderly_end_begins_the_next_start(read: Read) -> None:
    attempts = read("\n".join([BANNER, READY, STOP, BANNER, FAILURE])).attempts

    assert len(attempts) == 2
    assert attempts[0].shutdown is not None
    assert attempts[1].ready is None


def test_without_a_banner_the_engine_marks_the_start(read: Read) -> None:
    assert len(read("\n".join([ENGINE, FAILURE, ENGINE])).attempts) == 2


def test_a_warning_with_a_traceback_is_no_failure_to_cut_at(read: Read) -> None:
    warning = "WARNING 11-20 10:00:00 [x.py:1] ImportError: no numa"

    assert len(read("\n".join([BANNER, warning, ARGS])).attempts) == 1


@pytest.mark.parametrize("line", ["NCCL version 2.27.3+cuda12.9", "Last error, NCCL version 2.27.3"])
def test_the_version_of_a_library_is_no_banner(read: Read, line: str) -> None:
    assert len(read("\n".join([ENGINE, FAILURE, line])).attempts) == 1


def test_api_servers_that_fail_in_turn_of_one_engine_are_one_start(read: Read) -> None:
    one = ["Traceback (most recent call last):", '  File "/venv/x.py", line 3, in main', "RuntimeError: gone"]
    lines = [f"(APIServer pid={pid}) {text}" for pid in (10, 20) for text in one]

    assert len(read("\n".join(lines)).attempts) == 1


def test_an_api_server_of_another_pid_is_another_start(read: Read) -> None:
    lines = [f"(APIServer pid={pid}) ValueError: no room" for pid in (10, 10, 20)]

    assert [attempt.start for attempt in read("\n".join(lines)).attempts] == [0, 2]


def test_a_supervisor_s_notice_begins_a_start(read: Read) -> None:
    notice = "vllm.service: Scheduled restart job, restart counter is at 2."

    assert len(read("\n".join([FAILURE, notice, FAILURE])).attempts) == 2


def test_an_early_message_with_a_clock_gone_back_begins_a_start(read: Read) -> None:
    early = "INFO 11-20 09:00:00 [__init__.py:216] Automatically detected platform cuda."

    assert [attempt.start for attempt in read("\n".join([FAILURE, early, FAILURE])).attempts] == [0, 1]


def test_a_clock_gone_back_alone_begins_nothing(read: Read) -> None:
    other_host = "ERROR 11-20 09:00:00 [core.py:708] RuntimeError: peer is gone"

    assert len(read("\n".join([ARGS, FAILURE, other_host, FAILURE])).attempts) == 1
