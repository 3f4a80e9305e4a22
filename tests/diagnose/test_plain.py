"""Failures that are no Python exception."""

from __future__ import annotations

import pytest

from vllm_triage.diagnose.plain import is_build_error, native_tier, speaks_of_failure
from vllm_triage.model import Line


def line(text: str) -> Line:
    return Line(0, 1, text)


@pytest.mark.parametrize(
    "text",
    [
        "vllm serve: error: argument --dtype: invalid choice: 'fp8'",
        "api_server.py: error: unrecognized arguments: --x",
        "bash: vllm: command not found",
        "/usr/bin/ld: cannot find -lcuda",
        "  what():  CUDA error: an illegal memory access was encountered",
        "Killed",
        "./serve.sh: line 3:    42 Killed                  vllm serve",
        "Segmentation fault (core dumped)",
        "Fatal Python error: Aborted",
        "ERROR: No matching distribution found for vllm",
    ],
)
def test_a_failure_in_the_words_of_another_program_has_a_class(text: str) -> None:
    assert native_tier(line(text)) is not None


@pytest.mark.parametrize(
    "text", ["Loading weights", "Killed nothing today", "GET /error", "the argument: error: none"]
)
def test_prose_has_none(text: str) -> None:
    assert native_tier(line(text)) is None


def test_the_surer_form_has_the_lower_class() -> None:
    argument, killed = native_tier(line("x.py: error: bad")), native_tier(line("Killed"))

    assert argument is not None
    assert killed is not None
    assert argument < killed


@pytest.mark.parametrize(
    ("text", "is_error"),
    [
        ("/tmp/x/main.c:5:10: fatal error: Python.h: No such file or directory", True),
        ("/usr/include/x.cuh(41): error: identifier is undefined", True),
        ("collect2: error: ld returned 1 exit status", True),
        ("main.c:5:10: warning: unused variable", False),
    ],
)
def test_a_compiler_s_error_is_told_from_its_warning(text: str, is_error: bool) -> None:
    assert is_build_error(line(text)) is is_error


@pytest.mark.parametrize(
    ("text", "speaks"),
    [
        ("The model cannot be found in the registry", True),
        ("Falling back to eager mode because compilation failed", False),
        ("There appear to be 1 leaked semaphore objects, cleanup failed", False),
        ("Everything is ready", False),
    ],
)
def test_notices_of_healthy_logs_do_not_speak_of_failure(text: str, speaks: bool) -> None:
    assert speaks_of_failure(line(text)) is speaks
