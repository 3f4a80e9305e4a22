from __future__ import annotations

import pytest

from ..logs import before_each, scan_texts

TEXTS = [
    "(EngineCore pid=1) INFO ready",
    '  File "/a.py", line 1, in f',
    "",
    "ValueError: text",
    "INFO:     Started",
]


@pytest.mark.parametrize(
    "stamp",
    [
        "2026-05-29T09:14:45.594Z ",
        "2026-05-29T09:14:45.594123+02:00 ",
        "2026-05-29T09:14:45Z ",
        "2026-05-29 09:14:45 ",
        "2026-05-29 09:14:45.166 | ",
        "[2026-05-29T09:14:45Z] ",
        "Aug 17 18:42:18 ",
        "[09:14:45.123] ",
        "test (3.12)\tRun pytest\t2026-05-29T09:14:45.5941234Z ",
        "_bk;t=1778140988034\x07",
        "Aug 17 18:42:18 gpu-host vllm[8052]: ",
        "Aug  7 18:42:18 gpu-host systemd-vllm.service[1]: ",
        "2026-05-29T09:14:45+00:00 gpu-host vllm: ",
        "<14>Aug 17 18:42:18 gpu-host vllm[8052]: ",
    ],
)
def test_stamps(stamp: str) -> None:
    assert scan_texts(before_each(lambda at: stamp)(TEXTS)) == TEXTS


@pytest.mark.parametrize(
    "record",
    [
        "2026-05-29 09:14:45,690 - app - ERROR - text",
        "2026-05-29 09:14:45,690 ERROR text",
        "2026-05-29 09:14:45 | ERROR    | text",
        "2026-05-29 09:14:45,690\tINFO worker.py:1752 -- text",
        "[2026-05-29 09:14:45,588 E 13261 13261] core_worker.cc:228: text",
        "[2026-05-29 09:14:45] [ERROR] text",
        "2026-05-29T09:14:45.817670Z ERROR tower_http::trace::on_failure: text",
    ],
)
def test_records_of_another_logger_keep_stamp_and_level(record: str) -> None:
    assert scan_texts([record] * 5) == [record] * 5


def test_a_carrier_stands_before_records_of_another_logger_too() -> None:
    lines = [*TEXTS * 2, "[ERROR] text"]
    assert scan_texts(before_each(lambda at: f"2026-05-29T09:14:{at:02d}Z ")(lines)) == lines


def test_stamps_on_few_lines_stay() -> None:
    lines = ["2026-05-29T09:14:45Z started", "2026-05-29T09:14:46Z stopped", *["text"] * 3]
    assert scan_texts(lines) == lines
