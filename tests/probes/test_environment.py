"""Variables: the relevant ones, and no secret of them."""

from __future__ import annotations

import json
from dataclasses import asdict

from hypothesis import given
from hypothesis import strategies as st

from vllm_triage.probes.facts.environment import read


def test_relevant_variables_are_kept_and_others_are_not() -> None:
    found = read(
        {"CUDA_VISIBLE_DEVICES": "0", "VLLM_USE_V1": "1", "https_proxy": "http://proxy:3128", "EDITOR": "vi"}
    )

    assert found.variables == {
        "CUDA_VISIBLE_DEVICES": "0",
        "VLLM_USE_V1": "1",
        "https_proxy": "http://proxy:3128",
    }


@given(secret=st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=12, max_size=60))
def test_a_secret_is_replaced_by_a_fingerprint_that_tells_two_apart(secret: str) -> None:
    one, other = (read({"HF_TOKEN": value}).variables["HF_TOKEN"] for value in (secret, secret + "x"))

    assert secret not in json.dumps(asdict(read({"HF_TOKEN": secret, "VLLM_API_KEY": secret})))
    assert one != other
    assert one == read({"HF_TOKEN": secret}).variables["HF_TOKEN"]


def test_a_password_inside_a_proxy_is_hidden() -> None:
    assert "hunter2" not in str(read({"HTTPS_PROXY": "http://me:hunter2@proxy:3128"}))
