"""Records of a JSON formatter come out as vLLM's own formatter would have written them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ..logs import CARRIERS, scan_lines, scan_texts

RECORD: dict[str, Any] = {
    "asctime": "2026-12-01 03:32:46,685",
    "levelname": "ERROR",
    "name": "vllm.v1.engine.core",
    "processName": "MainProcess",
    "process": 1653,
    "message": "EngineCore failed to start.",
    "exc_info": 'Traceback (most recent call last):\n  File "/a.py", line 1, in f\n    g()\nValueError: text',
    "vllm_process_name": "EngineCore",
}
HEAD = "(EngineCore pid=1653) ERROR 12-01 03:32:46 [logger.py:0] "
TEXTS = [HEAD + line for line in (RECORD["message"] + "\n" + RECORD["exc_info"]).split("\n")]


def test_message_and_traceback_get_the_stamp_on_each_line() -> None:
    lines = ["print of another process", json.dumps(RECORD), "Traceback (most recent call last):"]
    assert scan_lines(lines) == [(1, lines[0]), *((2, text) for text in TEXTS), (3, lines[2])]


@pytest.mark.parametrize("carrier", ["docker-json", "compose", "cri", "journald", "quote", "srun"])
def test_records_inside_of_a_carrier(carrier: str) -> None:
    assert scan_texts(CARRIERS[carrier]([json.dumps(RECORD)] * 4)) == TEXTS * 4


@pytest.mark.parametrize(
    ("changes", "head"),
    [
        ({"vllm_process_name": None}, "(MainProcess pid=1653) ERROR 12-01 03:32:46 [logger.py:0] "),
        ({"process": None}, "ERROR 12-01 03:32:46 [logger.py:0] "),
        ({"levelname": "warn"}, "(EngineCore pid=1653) WARNING 12-01 03:32:46 [logger.py:0] "),
        ({"filename": "core.py", "lineno": 7}, "(EngineCore pid=1653) ERROR 12-01 03:32:46 [core.py:7] "),
        ({"filename": "a b\n", "lineno": -1}, HEAD),
        ({"asctime": None, "timestamp": "2026-12-01T03:32:46Z"}, HEAD),
        ({"asctime": None, "created": 1796095966.5}, HEAD),
        ({"asctime": "?"}, "(EngineCore pid=1653) ERROR 01-01 00:00:00 [logger.py:0] "),
    ],
)
def test_fields(changes: dict[str, Any], head: str) -> None:
    record = {key: value for key, value in (RECORD | changes).items() if value is not None}
    del record["exc_info"]
    assert scan_texts([json.dumps(record)]) == [head + "EngineCore failed to start."]


def test_a_process_prefix_before_the_json_is_the_process() -> None:
    record = {"message": "one", "levelname": "INFO", "asctime": "2026-12-01 03:32:46"}
    line = "(Worker_DP0 pid=12345) " + json.dumps(record)
    assert scan_texts([line]) == ["(Worker_DP0 pid=12345) INFO 12-01 03:32:46 [logger.py:0] one"]


def test_a_message_with_a_stamp_of_its_own_gets_no_second_one() -> None:
    record = {
        "message": "ERROR 11-20 10:00:00 [core.py:1] text",
        "levelname": "INFO",
        "asctime": "2026-12-01 03:32:46",
    }
    assert scan_texts([json.dumps(record)]) == [record["message"]]


def test_an_unknown_level_gives_the_bare_message() -> None:
    assert scan_texts([json.dumps({"message": "text", "levelname": "LOUD"})]) == ["text"]
