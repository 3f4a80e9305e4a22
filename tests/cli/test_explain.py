from __future__ import annotations

import pytest

from tests.builders import KV_CACHE
from vllm_triage.cli import main
from vllm_triage.cli.explain import rows


def test_a_rule_is_explained_without_a_log() -> None:
    page = [row.text for row in rows(KV_CACHE, 80, "|")]

    assert page[:2] == [
        "kv-cache-below-max-len",
        "The KV cache cannot hold one request of the maximum length",
    ]
    assert "One request of <max_model_len> tokens needs <needed_gib> GiB, and" in page
    assert "   vllm serve ... --max-model-len '<fits_tokens>'" in page
    assert "   nvidia-smi --format=csv" in page
    assert "Starting again unchanged will not help." in page
    assert page[-1] == f"See {KV_CACHE.references[0]}"


def test_a_built_in_rule_can_be_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "kv-cache-below-max-len"]) == 0
    assert "What to do" in capsys.readouterr().out


def test_an_id_that_is_nearly_right_is_corrected(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "kv-cache-below-maxlen"]) == 2
    assert "kv-cache-below-max-len" in capsys.readouterr().err
