"""Echoes, access lines and environment dumps hold failure words and are not looked at."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vllm_triage.model import Log

Read = Callable[[str], Log]


@pytest.mark.parametrize(
    "line",
    [
        "INFO 11-20 10:00:00 [utils.py:233] non-default args: {'model': 'x', 'trust_remote_code': False}",
        "INFO 11-20 10:00:00 [core.py:69] Initializing a V1 LLM engine (v0.11.0) with config: model='x', error='out of memory'",
        "INFO 11-20 10:00:00 [api_server.py:1] args: Namespace(host=None, on_error='failed')",
        'INFO:     10.0.0.1:5 - "GET /error HTTP/1.1" 500 Internal Server Error',
        "Loading safetensors checkpoint shards:  50% Completed | 1/2 [00:01<00:01,  1.2s/it]",
        "usage: vllm serve [model_tag] [options]",
        "ERROR 01-22 00:13:32 client.py:282] NoneType: None",
    ],
)
def test_an_aside_is_marked(read: Callable[[str], Log], line: str) -> None:
    assert [found.kind for found in read(line)] == ["aside"]


def test_an_environment_dump_ends_where_the_log_begins(read: Read) -> None:
    log = read(
        """
        ==============================
                System Info
        ==============================
        OS                           : Linux
        NCCL version                 : Could not collect
        CUDA error                   : none
        Traceback (most recent call last):
          File "a.py", line 1, in f
        ValueError: boom
        """
    )

    assert {line.kind for line in log if 2 <= line.number <= 6} == {"aside"}
    assert log.blocks[0].message == "boom"


def test_the_error_after_a_usage_text_is_seen(read: Read) -> None:
    log = read(
        """
        usage: vllm serve [model_tag] [options]
                          [--failed-option FAILED]
        vllm serve: error: unrecognized arguments: --swap-space
        """
    )

    assert [line.kind for line in log] == ["aside", "aside", "plain"]


def test_a_frame_is_no_aside_whatever_its_function_is_called(read: Read) -> None:
    log = read(
        """
        Traceback (most recent call last):
          File "/opt/vllm/engine/arg_utils.py", line 1, in create_engine_config
          File "/opt/vllm/entrypoints/args.py", line 1, in EngineArgs(
        ValueError: boom
        """
    )

    assert [frame.function for frame in log.blocks[0].frames] == ["create_engine_config", "EngineArgs("]


def test_an_optional_import_that_failed_is_an_aside(read: Read) -> None:
    log = read(
        """
        ERROR 01-28 06:35:44 [gpt_oss_triton_kernels_moe.py:34] Failed to import Triton kernels. Please make sure your triton version is compatible. Error: No module named 'triton_kernels.routing'
        ERROR 01-28 06:35:45 [core.py:708] ImportError: No module named 'triton_kernels.routing'
        """
    )

    assert [line.kind for line in log] == ["aside", "exception"]
