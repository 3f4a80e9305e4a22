"""The library: any input gives a valid report, and line numbers point into the input."""

from __future__ import annotations

import gzip
import json
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vllm_triage import CatalogError, Report, Triager, triage

FAILURE = """\
INFO 10-02 09:14:01 [api_server.py:1839] vLLM API server version 0.11.0
(EngineCore_DP0 pid=271) ERROR 10-02 09:14:45 [core.py:708] Traceback (most recent call last):
(EngineCore_DP0 pid=271) ERROR 10-02 09:14:45 [core.py:708]   File "/venv/lib/python3.12/site-packages/vllm/v1/core/kv_cache_utils.py", line 716, in check_enough_kv_cache_memory
(EngineCore_DP0 pid=271) ERROR 10-02 09:14:45 [core.py:708] ValueError: To serve at least one request with the models's max seq len (32768), (4.00 GiB KV cache is needed, which is larger than the available KV cache memory (1.20 GiB). Based on the available memory, the estimated maximum model length is 9824. Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.
(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}
"""
# Pieces of which logs are made, so that random texts reach the depths of the parser.
PIECES = st.sampled_from(
    [
        "Traceback (most recent call last):",
        '  File "/x/vllm/a.py", line 1, in f',
        "    raise ValueError",
        "ValueError: no",
        "AssertionError",
        "The above exception was the direct cause of the following exception:",
        "(EngineCore_DP0 pid=1) ERROR 10-02 09:14:45 [core.py:708] ",
        "INFO:     Application startup complete.",
        "INFO 10-02 09:14:01 [api_server.py:1839] vLLM API server version 0.11.0",
        '{"log":"ValueError: no\\n","stream":"stderr","time":"2026-05-29T09:14:45Z"}',
        "\x1b[31mKilled\x1b[0m",
        "\r",
        "\n",
        " ",
        "usage: vllm serve",
        "torch.OutOfMemoryError: CUDA out of memory.",
    ]
)


def rules(report: Report) -> list[str]:
    return [diagnosis.rule for diagnosis in report.diagnoses]


@pytest.fixture(scope="module")
def triager() -> Triager:
    return Triager()


def test_text_bytes_lines_and_a_file_give_the_same_report(tmp_path: Path) -> None:
    path = tmp_path / "crash.log"
    path.write_text(FAILURE)
    (tmp_path / "crash.log.gz").write_bytes(gzip.compress(FAILURE.encode()))

    reports = [triage(FAILURE), triage(FAILURE.encode()), triage(FAILURE.splitlines()), triage(path)]

    assert {report.model_dump_json() for report in reports} == {reports[0].model_dump_json()}
    assert rules(triage(tmp_path / "crash.log.gz")) == rules(reports[0])
    assert reports[0].cause is not None
    assert reports[0].cause.rule == "kv-cache-below-max-len"
    assert reports[0].cause.evidence[0].line == 4


def test_a_stream_says_the_same_in_the_end_and_is_provisional_before(triager: Triager) -> None:
    with triager.stream() as stream:
        for at in range(0, len(FAILURE), 7):
            stream.feed(FAILURE[at : at + 7])
        before = stream.report

    assert before.provisional
    assert not stream.report.provisional
    assert stream.report.model_dump_json() == triager.triage(FAILURE).model_dump_json()


def test_a_triager_serves_several_threads(triager: Triager) -> None:
    found: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda: found.append(rules(triager.triage(FAILURE)))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [rules(triager.triage(FAILURE))] * 8


def test_a_broken_rule_is_refused_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("id: mine\nfamily: 3\n")

    with pytest.raises(CatalogError, match=r"mine\.yaml:2"):
        Triager(rules=[tmp_path])


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=2000))
def test_arbitrary_bytes_give_a_valid_report(data: bytes) -> None:
    report = triage(data)

    assert Report.model_validate_json(report.model_dump_json()) == report


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=60).map("".join))
def test_whatever_is_shown_stands_where_its_number_says(text: str) -> None:
    report = triage(text)
    total = text.count("\n") + 1

    numbers = [evidence.line for diagnosis in report.diagnoses for evidence in diagnosis.evidence]
    numbers += [row.line for row in report.context.timeline]
    if report.root_error is not None:
        numbers.append(report.root_error.line)
    assert all(1 <= number <= total for number in numbers)
    json.loads(report.model_dump_json())


def test_lone_surrogates_are_no_obstacle() -> None:
    assert triage("ValueError: \ud800 no").verdict in {"failed", "inconclusive"}
