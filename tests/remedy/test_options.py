"""What is said of an option that a release does not know; facts about releases of vLLM."""

from __future__ import annotations

import pytest

from vllm_triage import triage
from vllm_triage.remedy import options

LOG = "(APIServer pid=1) INFO 11-20 10:00:01 [api_server.py:1] vLLM API server version {}\nvllm serve: error: unrecognized arguments: {} 4\n"


def test_removed_options() -> None:
    """--device and --num-scheduler-steps went with V0 (0.10), --swap-space stayed in V1's parser until 0.17."""
    assert options.last_release("--num-scheduler-steps") == "0.9.2"
    assert options.last_release("--swap-space") == "0.17.0"
    assert options.last_release("--port") is None
    assert options.last_release("--no-such") is None


def test_added_options() -> None:
    assert options.first_release("--port") is None
    assert options.first_release("--kv-cache-memory-bytes") is not None


@pytest.mark.parametrize(
    "typed, release, meant",
    [
        ("--max-num-seq", "0.11.0", "max-num-seqs"),
        ("--tensor_paralel_size", "0.11.0", "tensor-parallel-size"),
        ("--gpu-memory-utilisation", None, "gpu-memory-utilization"),
        ("--frobnicate", "0.11.0", None),
    ],
)
def test_the_option_that_was_meant(typed: str, release: str | None, meant: str | None) -> None:
    assert options.nearest(typed, release) == meant


@pytest.mark.parametrize(
    "release, option, said",
    [
        ("0.32.0", "--swap-space", "0.17.0"),
        ("0.32.0", "--max-num-seq", "--max-num-seqs"),
        ("0.8.5", "--kv-cache-memory-bytes", "Use a newer vLLM"),
    ],
)
def test_the_first_remedy_fits_the_release_of_the_log(release: str, option: str, said: str) -> None:
    cause = triage(LOG.format(release, option)).cause

    assert cause
    first = cause.remedies[0]
    assert said in " ".join((first.title, first.why or ""))


def test_a_removed_option_is_not_said_to_be_a_typing_error() -> None:
    cause = triage(LOG.format("0.32.0", "--swap-space")).cause

    assert cause
    assert not any(remedy.title.startswith("Write ") for remedy in cause.remedies)
