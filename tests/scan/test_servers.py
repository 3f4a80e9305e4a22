"""Servers that share a log, each line of which a carrier says the printer of."""

from __future__ import annotations

import copy

import pytest

from vllm_triage import triage
from vllm_triage.scan import Scanner, by_server
from vllm_triage.scan.lines import Printed

START = "(APIServer pid=1) INFO 12-01 09:14:05 [api_server.py:1839] vLLM API server version 0.11.0"
READY = "(APIServer pid=1) INFO:     Application startup complete."
FAILURE = "(EngineCore_DP0 pid=5) ERROR 12-01 09:14:24 [core.py:708] ValueError: No available memory for the cache blocks."
LOST = "(Worker_TP0 pid=9) ERROR 12-01 09:24:50 [x.py:5] torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 1/2 clients joined."

PREFIXES = {"compose": "{}-1 | ", "kubectl": "[pod/{}/main] ", "srun": "{}: "}


def both(prefix: str, one: list[str], other: list[str]) -> str:
    """The lines of two servers, one in turn with the other, and what one says more of at the end."""
    names = ("0", "1") if prefix == PREFIXES["srun"] else ("llm-a", "llm-b")
    rows = [
        prefix.format(name) + text
        for pair in zip(one, other, strict=True)
        for name, text in zip(names, pair, strict=True)
    ]
    return "".join(f"{row}\n" for row in rows)


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
def test_a_server_that_serves_does_not_hide_one_that_failed(prefix: str) -> None:
    log = both(prefix, [START, FAILURE, ""], [START, "", READY])

    report = triage(log)

    assert report.verdict == "failed"
    assert report.cause is not None
    assert (report.cause.rule, report.cause.evidence[0].line) == ("kv-cache-no-memory", 3)
    assert triage(both(prefix, [START, "", READY], [START, "", READY])).verdict == "healthy"


def test_the_server_that_failed_first_has_the_cause() -> None:
    report = triage(both(PREFIXES["kubectl"], [START, LOST], [START, FAILURE]))

    assert report.cause is not None
    assert report.cause.rule == "kv-cache-no-memory"


def test_a_service_that_prints_no_vllm_of_its_own_is_no_server() -> None:
    scanner = Scanner()
    scanner.feed(both(PREFIXES["compose"], [START, READY] * 3, ["GET vllm", "500"] * 3).encode())

    assert by_server(scanner.close().regions) == []


def test_the_number_of_a_printed_line_is_a_number_that_survives_a_copy() -> None:
    number = copy.deepcopy(Printed(7, "llm-a"))

    assert (number, number.service) == (7, "llm-a")
