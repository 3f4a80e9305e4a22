from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vllm_triage.remedy.derive import (
    FUNCTIONS,
    derive,
    largest_gpu_memory_utilization,
    largest_max_model_len,
    smaller_tensor_parallel_size,
)


@pytest.mark.parametrize(
    "fields, value",
    [
        # vLLM's own estimate is better than ours.
        (
            {
                "max_model_len": 131072,
                "needed_gib": 16.0,
                "available_gib": 5.62,
                "estimated_max_model_len": 46032,
            },
            46032,
        ),
        ({"max_model_len": 131072, "needed_gib": 16.0, "available_gib": 5.62}, 45968),
        ({"max_model_len": 32768, "needed_gib": 4.0, "available_gib": 4.0}, 32672),
        ({"max_model_len": 32768, "needed_gib": 4.0, "available_gib": 0.0}, None),
        ({"max_model_len": 32768, "needed_gib": 0.0, "available_gib": 1.0}, None),
        ({"max_model_len": 4096, "needed_gib": 1.0, "available_gib": 2.0}, None),
        ({"needed_gib": 4.0, "available_gib": 1.2}, None),
        ({"max_model_len": "long", "needed_gib": 4.0, "available_gib": 1.2}, None),
    ],
)
def test_largest_max_model_len(fields: dict[str, float], value: int | None) -> None:
    assert largest_max_model_len(fields) == value


@given(st.integers(1024, 1 << 20), st.floats(0.1, 500), st.floats(0, 500))
def test_the_length_fits_whatever_was_rounded_away(asked: int, needed: float, available: float) -> None:
    fits = largest_max_model_len(
        {"max_model_len": asked, "needed_gib": round(needed, 2), "available_gib": round(available, 2)}
    )

    assert fits is None or fits * needed / asked <= available + 1e-9


@pytest.mark.parametrize(
    "fields, value",
    [
        ({"free_gib": 10.2, "total_gib": 23.64}, 0.42),
        ({"free_gib": 79.0, "total_gib": 79.1}, 0.98),
        ({"free_gib": 0.5, "total_gib": 23.64}, None),
        ({"free_gib": 10.2}, None),
        ({"free_gib": 10.2, "total_gib": 0}, None),
    ],
)
def test_largest_gpu_memory_utilization(fields: dict[str, float], value: float | None) -> None:
    assert largest_gpu_memory_utilization(fields) == value


@pytest.mark.parametrize(
    "fields, value",
    [
        ({"heads": 28, "tensor_parallel_size": 8}, 7),
        ({"heads": 40, "tensor_parallel_size": 16}, 10),
        ({"tensor_parallel_size": 8, "gpus": 3}, 2),
        ({"tensor_parallel_size": 8, "gpus": 6, "heads": 64}, 4),
        ({"gpus": 4}, 4),
        ({"tensor_parallel_size": 1}, None),
        ({"gpus": 0}, None),
        ({"gpus": 10**12}, None),
        ({}, None),
    ],
)
def test_smaller_tensor_parallel_size(fields: dict[str, int], value: int | None) -> None:
    assert smaller_tensor_parallel_size(fields) == value


def test_what_cannot_be_derived_is_left_out() -> None:
    wanted = {
        "tp": "smaller-tensor-parallel-size",
        "length": "largest-max-model-len",
        "x": "no-such-function",
    }

    assert derive(wanted, {"gpus": 4}) == {"tp": 4}


@pytest.mark.parametrize(
    "weights, gpu, gpus, size",
    [
        (131.4, 79.15, 1, 4),  # Llama 3.3 70B in 16 bits: two GPUs of 80 GB would be full of weights alone
        (14.99, 22.06, 1, None),  # an 8B model fits
        (37.2, 22.06, 2, 8),
        (9000.0, 79.15, 1, None),
        (0.0, 79.15, 1, None),
    ],
)
def test_so_many_gpus_hold_the_weights(weights: float, gpu: float, gpus: int, size: int | None) -> None:
    fields: dict[str, int | float | str] = {"weights_gib": weights, "gpu_gib": gpu, "gpus": gpus}

    assert FUNCTIONS["holding-tensor-parallel-size"](fields) == size
