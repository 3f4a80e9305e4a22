from __future__ import annotations

from collections.abc import Callable

from tests.builders import PROOF
from vllm_triage.model import Line
from vllm_triage.report import Report, jsonl, oneline
from vllm_triage.report import json as as_json


def test_json_is_the_dump_of_the_model(failed: Report) -> None:
    assert as_json.render(failed) == failed.model_dump_json() + "\n"


def test_jsonl_is_one_line(failed: Report) -> None:
    assert jsonl.render(failed).count("\n") == 1


def test_one_line_names_the_cause_and_its_proof(failed: Report) -> None:
    assert oneline.render(failed) == (
        "failed: kv-cache-below-max-len, very likely: The KV cache cannot hold one request of the maximum length "
        f"(line 161, EngineCore_DP0: {PROOF})\n"
    )


def test_one_line_shows_an_unknown_error(report_of: Callable[..., Report]) -> None:
    assert (
        oneline.render(report_of(root=Line(1, 2, "Killed")))
        == "failed, and no rule knows the error (line 2: Killed)\n"
    )


def test_one_line_for_a_healthy_log(report_of: Callable[..., Report]) -> None:
    assert oneline.render(report_of("healthy")) == "healthy: it became ready and nothing fatal follows\n"
