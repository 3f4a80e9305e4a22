"""Prefixes and stamps of all releases and of the other programs that write into a vLLM log."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vllm_triage.log.prefix import split_prefix, split_records


@pytest.mark.parametrize(
    ("raw", "process", "level", "origin"),
    [
        ("ERROR 11-20 10:00:00 core.py:48] boom", "", "ERROR", "core.py:48"),
        ("ERROR 11-20 10:00:00 [core.py:48] boom", "", "ERROR", "core.py:48"),
        ("ERROR 11-20 10:00:00 [v1/engine/core.py:48] boom", "", "ERROR", "v1/engine/core.py:48"),
        ("ERROR 11-20 10:00:00 [model_executor/.../fp8_utils.py:9] boom", "", "ERROR", "model_executor/.../fp8_utils.py:9"),
        ("(EngineCore pid=42) ERROR 11-20 10:00:00 [core.py:48] boom", "EngineCore", "ERROR", "core.py:48"),
        ("(VllmWorker rank=0 pid=42) ERROR 11-20 10:00:00 [core.py:48] boom", "VllmWorker rank=0", "ERROR", "core.py:48"),
        ("(VllmWorker TP0 pid=42) ERROR 11-20 10:00:00 [core.py:48] boom", "VllmWorker TP0", "ERROR", "core.py:48"),
        ("(Worker_DP0_TP1_EP1 pid=42) ERROR 11-20 10:00:00 [core.py:48] boom", "Worker_DP0_TP1_EP1", "ERROR", "core.py:48"),
        ("(Worker pid=1) (Worker pid=1) ERROR 11-20 10:00:00 [core.py:48] boom", "Worker", "ERROR", "core.py:48"),
        ("(RayWorkerWrapper pid=3, ip=10.0.0.7) ERROR 11-20 10:00:00 [core.py:48] boom", "RayWorkerWrapper", "ERROR", "core.py:48"),
        ("(EngineCore_DP0 pid=1) nodeERROR 11-20 10:00:00 [core.py:48] boom", "EngineCore_DP0", "ERROR", "core.py:48"),
        ("node(EngineCore pid=1) boom", "", "", ""),
        ("[rank3]: boom", "rank3", "", ""),
        ("ERROR:    boom", "", "ERROR", ""),
        ("ERROR:vllm.engine:boom", "", "ERROR", "vllm.engine"),
        ("2024-06-13 16:11:50,396\tERROR worker.py:1752 -- boom", "", "ERROR", "worker.py:1752"),
        ("[2024-06-13 16:11:51,588 E 13261 13261] core_worker.cc:228: boom", "", "ERROR", "core_worker.cc:228"),
        ("[E1125 17:19:40.156408912 ProcessGroupNCCL.cpp:1524] boom", "", "ERROR", "ProcessGroupNCCL.cpp:1524"),
        ("[rank0]:[E1125 17:19:40.156408912 ProcessGroupNCCL.cpp:1524] boom", "rank0", "ERROR", "ProcessGroupNCCL.cpp:1524"),
        ("E0606 10:00:00.123000 4242 torch/_inductor/x.py:1] [0/0] boom", "", "ERROR", "torch/_inductor/x.py:1"),
        ("2025-06-27 12:57:51,690 - app.main - ERROR - boom", "", "ERROR", "app.main"),
        ("2025-03-24 22:04:27 | ERROR | stderr | boom", "", "ERROR", ""),
    ],
)  # fmt: skip
def test_the_message_is_what_remains(raw: str, process: str, level: str, origin: str) -> None:
    prefix = split_prefix(raw)

    assert prefix.text.endswith("boom")
    assert (prefix.process, prefix.level, prefix.origin) == (process, level, origin)
    if prefix.writer:
        assert prefix.text == "boom"


def test_the_indentation_of_a_stamped_traceback_line_is_kept() -> None:
    prefix = split_prefix('ERROR 11-20 10:00:00 [core.py:48]   File "a.py", line 1, in f')

    assert prefix.text == '  File "a.py", line 1, in f'


@pytest.mark.parametrize(
    "text", ["ERROR", "an ERROR occurred", "(a pid) x", "INFORMATION: none", "12:30 lunch"]
)
def test_prose_is_left_alone(text: str) -> None:
    assert split_prefix(text).text == text


@given(st.text(max_size=200))
def test_any_text_is_read_and_its_end_survives(text: str) -> None:
    assert text.rstrip().endswith(split_prefix(text).text)


STAMP = "INFO 11-20 10:00:00 [core.py:48] "


@pytest.mark.parametrize(
    ("raw", "parts"),
    [
        (f"(A pid=1) (B pid=2) {STAMP}one{STAMP}two", [f"(A pid=1) {STAMP}one", f"(B pid=2) {STAMP}two"]),
        (f"{STAMP}one{STAMP}two", [f"{STAMP}one", f"{STAMP}two"]),
        (f"{STAMP}one(B pid=2) {STAMP}two", [f"{STAMP}one", f"(B pid=2) {STAMP}two"]),
        (
            f"shards:  97%|#| 1/2 [00:00](B pid=2) {STAMP}two",
            ["shards:  97%|#| 1/2 [00:00]", f"(B pid=2) {STAMP}two"],
        ),
        (
            "(A pid=1) graphs:  88%|#| 7/8 [00:04<00:00,  9.30it/s]CUDA error: out of luck",
            ["(A pid=1) graphs:  88%|#| 7/8 [00:04<00:00,  9.30it/s]", "CUDA error: out of luck"],
        ),
        (
            "shards: 100% Completed | 4/4 [00:04<00:00,  1.30s/it] ",
            ["shards: 100% Completed | 4/4 [00:04<00:00,  1.30s/it] "],
        ),
        (
            "model.safetensors:  50%|#| 2.1G/4.2G [00:30<00:30, 70.1MB/s]Killed",
            ["model.safetensors:  50%|#| 2.1G/4.2G [00:30<00:30, 70.1MB/s]", "Killed"],
        ),
        ("done at [9.30it/s] of 5", ["done at [9.30it/s] of 5"]),
        (f"(A pid=1) (A pid=1) {STAMP}one", [f"(A pid=1) (A pid=1) {STAMP}one"]),
        (f"node{STAMP}one", [f"node{STAMP}one"]),
        ("no record at all", ["no record at all"]),
    ],
)
def test_records_that_share_a_line_are_parted(raw: str, parts: list[str]) -> None:
    assert split_records(raw) == parts
