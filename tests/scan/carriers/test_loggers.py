from __future__ import annotations

import pytest

from ..logs import LOG, before_each, scan_texts


@pytest.mark.parametrize(
    "record",
    [
        "2026-05-29 09:14:45,594 - INFO - [container] ",
        "2025-06-27 12:57:51,690 - __main__ - INFO - ",
        "2025-06-27 12:57:51,690 INFO ",
        "2025-03-24 22:04:27 | ERROR | stderr | ",
        "2025-06-27 12:57:51.690 | INFO     | launcher.run:pump:44 - ",
        "[2025-06-27 12:57:51] [INFO] ",
        "INFO:launcher:",
        "[INFO] ",
    ],
)
def test_a_program_that_logs_what_vllm_prints(record: str) -> None:
    assert scan_texts(before_each(lambda at: record)(LOG)) == LOG


def test_a_tag_that_the_text_itself_begins_with_stays() -> None:
    lines = [*LOG, "[c10d] The server socket has timed out, will retry."]
    assert scan_texts(before_each(lambda at: "2025-06-27 12:57:51,690 - app - INFO - ")(lines)) == lines


@pytest.mark.parametrize(
    "record",
    ["2025-06-27 12:57:51,690 - app - ERROR - CUDA out of memory", "[ERROR] no such file", "INFO:app:ready"],
)
def test_records_of_an_application_stay(record: str) -> None:
    assert scan_texts([record] * 10) == [record] * 10


@pytest.mark.parametrize("tag", ["[vllm] ", "[worker-3] ", "stderr: ", "stdout: ", "[default0]:"])
def test_tags(tag: str) -> None:
    assert scan_texts(before_each(lambda at: tag)(LOG)) == LOG


@pytest.mark.parametrize(
    "tag", ["[rank0]: ", "[INFO] ", "(EngineCore pid=7) ", "INFO 11-20 10:00:00 [core.py:1] "]
)
def test_prefixes_that_the_next_stage_reads_stay(tag: str) -> None:
    lines = [tag + text for text in ("one", "two", "three", "four")]
    assert scan_texts(lines) == lines


def test_task_numbers_of_srun() -> None:
    lines = [f"{number % 4}: text {number}" for number in range(20)]
    assert scan_texts(lines) == [f"text {number}" for number in range(20)]


def test_numbers_that_count_are_no_tasks() -> None:
    lines = [f"{number}: " for number in range(2)] + ["text"] * 4
    assert scan_texts(lines) == lines


def test_a_prefix_nobody_knows_is_learned_from_vllms_own_lines() -> None:
    assert scan_texts(before_each(lambda at: f"@node{at % 7}/{at}# ")(LOG)) == LOG


def test_vllms_own_logging_prefix_is_not_learned() -> None:
    lines = ["prefix" + line for line in LOG if line.startswith("INFO 11")] * 5
    assert scan_texts(lines) == lines
