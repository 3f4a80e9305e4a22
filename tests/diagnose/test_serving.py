"""What a server that was ready survives, and what it dies of."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vllm_triage.model import Outcome

Judge = Callable[[str], Outcome]

READY = "(APIServer pid=1) INFO:     Application startup complete."
ANSWER = '(APIServer pid=1) INFO:     10.0.0.1:5 - "POST /v1/chat/completions HTTP/1.1" 200 OK'
PROBE = '(APIServer pid=1) INFO:     10.0.0.1:5 - "GET /health HTTP/1.1" 200 OK'
STOP = "(APIServer pid=1) INFO 11-20 10:09:00 [launcher.py:99] Shutting down FastAPI HTTP server."


def core(text: str) -> str:
    return f"(EngineCore_DP0 pid=5) ERROR 11-20 10:00:03 [core.py:708] {text}"


def verdict(judge: Judge, *lines: str) -> str:
    return judge("\n".join([READY, ANSWER, *lines])).verdict


def request_fails(name: str) -> list[str]:
    lines = [
        "ERROR:    Exception in ASGI application",
        "Traceback (most recent call last):",
        '  File "/venv/lib/python3.12/site-packages/starlette/middleware/errors.py", line 164, in __call__',
        '  File "/venv/lib/python3.12/site-packages/vllm/entrypoints/openai/serving_chat.py", line 9, in chat',
        name,
    ]
    return [f"(APIServer pid=1) {line}" for line in lines]


@pytest.mark.parametrize(
    "lines",
    [
        [core("ValueError: no adapter of that name"), ANSWER],
        [*request_fails("IndexError: list index out of range")],
        [*request_fails("IndexError: list index out of range"), PROBE],
        ["Traceback (most recent call last):", '  File "c.py", line 1, in f', "openai.BadRequestError: 400"],
        ["(EngineCore_DP0 pid=5) INFO 11-20 10:00:09 [x.py:1] Worker 0 died, exit code: -15", STOP],
    ],
    ids=["the engine answers on", "a request", "a request, then a probe", "a client", "told to stop"],
)
def test_it_survives(judge: Judge, lines: list[str]) -> None:
    assert verdict(judge, *lines) == "healthy"


@pytest.mark.parametrize(
    "lines",
    [
        [core("ValueError: no adapter of that name")],
        [core("ValueError: no adapter of that name"), PROBE],
        [core("RuntimeError: CUDA error: unspecified launch failure"), ANSWER],
        ["/entrypoint.sh: line 12:   272 Killed                  vllm serve demo"],
        [core("EngineCore encountered a fatal error."), STOP],
    ],
    ids=["no answer follows", "a probe proves nothing", "the device", "killed", "the engine"],
)
def test_it_dies(judge: Judge, lines: list[str]) -> None:
    assert verdict(judge, *lines) != "healthy"


def test_a_library_s_traceback_that_ends_a_program_counts_however_much_is_said_after_it(judge: Judge) -> None:
    frames = [
        "Traceback (most recent call last):",
        '  File "/venv/vllm/v1/engine/llm_engine.py", line 3, in step',
    ]
    epilog = [f"Job statistics, line {number}" for number in range(20)]

    outcome = judge("\n".join(["Processed prompts: 100%", *frames, "ValueError: no room left", *epilog]))

    assert outcome.verdict == "failed"
    assert [finding.rule.id for finding in outcome.findings] == ["no-room"]


@pytest.mark.parametrize("said", ["Shutting down a plant", "what is KeyboardInterrupt"])
def test_what_a_prompt_says_is_no_end(judge: Judge, said: str) -> None:
    prompt = f"INFO 11-20 10:00:01 [logger.py:40] Received request cmpl-1: prompt: '{said}'"

    assert verdict(judge, prompt, core("ValueError: no room left")) == "failed"


def test_waiting_until_the_server_is_ready_is_not_being_ready(judge: Judge) -> None:
    outcome = judge("Waiting until the server is ready...\n" + core("ValueError: no room left"))

    assert outcome.verdict == "failed"
