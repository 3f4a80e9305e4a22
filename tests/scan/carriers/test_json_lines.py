from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vllm_triage.scan.carriers.json_lines import JsonLines

from ..logs import scan_lines, scan_texts

TEXT = '(EngineCore pid=1) ERROR 11-20 10:00:00 [core.py:1] ValueError: "quoted" \\ path'


@pytest.mark.parametrize(
    "record",
    [
        {"log": TEXT + "\n", "stream": "stderr", "time": "2026-05-29T09:14:45.594Z"},
        {"log": TEXT + "\n", "kubernetes": {"pod_name": "vllm-0"}},
        {"message": TEXT, "@timestamp": "2026-05-29T09:14:45.594Z"},
        {"msg": TEXT, "level": "info", "ts": 1780046085.5},
        {"line": TEXT, "timestamp": "1780046085594123456", "labels": {}},
        {"textPayload": TEXT, "insertId": "x", "severity": "ERROR"},
        {"jsonPayload": {"message": TEXT}, "insertId": "x"},
        {"_source": {"message": TEXT, "@timestamp": "x"}},
        {"MESSAGE": TEXT, "PRIORITY": "6", "_SYSTEMD_UNIT": "vllm.service"},
        {"MESSAGE": list(TEXT.encode()), "__REALTIME_TIMESTAMP": "1"},
        {"log": TEXT},
        {"message": json.dumps({"log": TEXT + "\n", "stream": "stdout", "time": "x"}), "time": "x"},
    ],
)
@pytest.mark.parametrize("end", ["", ",", " "])
def test_shippers(record: dict[str, Any], end: str) -> None:
    assert scan_texts(["plain", json.dumps(record) + end, "plain"]) == ["plain", TEXT, "plain"]


@pytest.mark.parametrize(
    "line",
    [
        '{"object": "error", "message": "The model `x` does not exist.", "type": "NotFoundError", "code": 404}',
        '{"model_type": "llama", "time": 3}',
        '{"log": "not closed',
        '{"a": 1}',
        "{'log': 'repr'}",
        '{"level": "info", "time": 1, "message": {"nested": true}}',
        '["log"]',
    ],
)
def test_other_json_stays(line: str) -> None:
    assert scan_texts(["plain", line]) == ["plain", line]


def test_a_long_line_that_docker_cut_is_joined() -> None:
    parts = [{"log": "x" * 16384}, {"log": "y" * 16384}, {"log": "end\n"}, {"log": "next\n"}]
    lines = [json.dumps(part | {"stream": "stdout", "time": "t"}) for part in parts]
    assert scan_lines(lines) == [(1, "x" * 16384 + "y" * 16384 + "end"), (4, "next")]


def test_a_short_line_without_an_end_is_no_part() -> None:
    lines = [json.dumps({"log": text, "stream": "stdout", "time": "t"}) for text in ("one", "two\n")]
    assert scan_lines(lines) == [(1, "one"), (2, "two")]


def test_escapes_and_returns_inside() -> None:
    record = {"log": "\x1b[1;36m(Worker pid=1)\x1b[0;0m 50%\r100%\n", "stream": "stderr", "time": "t"}
    assert scan_lines([json.dumps(record)]) == [(1, "(Worker pid=1) 50%"), (1, "100%")]


def test_a_prefix_before_the_json_stays_before_each_line() -> None:
    line = "(Worker_DP0 pid=12345) " + json.dumps({"message": "one\ntwo", "time": "x"})
    assert scan_texts([line]) == ["(Worker_DP0 pid=12345) one", "(Worker_DP0 pid=12345) two"]


def test_json_is_undone_wherever_it_comes() -> None:
    late = json.dumps({"log": "late\n", "stream": "stderr", "time": "t"})
    lines = [f"text {number}" for number in range(5000)] + [late]
    assert scan_texts(lines)[-1] == "late"


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["log", "message", "level", "levelname", "time", "fields", "asctime", "x"]), inner
        )
    ),
    max_leaves=8,
)


@given(value=json_values, cut=st.integers(0, 3))
def test_no_json_raises(value: object, cut: int) -> None:
    line = json.dumps(value)
    layer = JsonLines()
    lines = layer.push([(1, line[: len(line) - cut]), (2, "(A pid=1) " + line)])
    assert [number for number, _ in lines + layer.flush()][-1:] == [2]


def test_nothing_deep_raises() -> None:
    line = '{"log":' * 10_000
    assert JsonLines().push([(1, line)]) == [(1, line)]
