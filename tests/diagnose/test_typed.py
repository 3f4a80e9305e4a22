"""Command lines that logs show."""

from __future__ import annotations

import pytest

from vllm_triage import triage
from vllm_triage.diagnose.typed import typed_command
from vllm_triage.model import Line


def found(*texts: str) -> str:
    return " ".join(typed_command(Line(at, at + 1, text) for at, text in enumerate(texts)))


@pytest.mark.parametrize(
    "line, command",
    [
        ("$ vllm serve demo --port 8000", "vllm serve demo --port 8000"),
        ('root@node:/work# vllm serve "demo/x" --tensor-parallel-size 2 2>&1 | tee log', "vllm serve demo/x --tensor-parallel-size 2"),
        ("+ vllm serve demo", "vllm serve demo"),
        ("docker run --gpus all -p 8000:8000 vllm/vllm-openai:latest --model demo", "docker run --gpus all -p 8000:8000 vllm/vllm-openai:latest --model demo"),
        ("usage: vllm serve [model_tag] [options]", ""),
        ("Restart vllm serve with --enable-scale-out to use them.", ""),
        ("vllm serve: error: unrecognized arguments: --x", ""),
        ("vllm serve <MODEL> --x", ""),
        ("vllm serve demo --x 'open", ""),
        ("vllm serve demo \\", ""),
    ],
)  # fmt: skip
def test_a_command_is_told_from_prose(line: str, command: str) -> None:
    assert found("INFO something", line) == command


def test_the_remedy_corrects_the_command_that_the_log_shows() -> None:
    log = "$ vllm serve /models/demo --max-model-len 32768 --seed 1\nValueError: To serve at least one request with the models's max seq len (32768), (4.0 GiB KV cache is needed, which is larger than the available KV cache memory (1.2 GiB). Based on the available memory, the estimated maximum model length is 9824.\n"
    cause = triage(log).cause

    assert cause
    assert cause.remedies[0].command == "vllm serve /models/demo --max-model-len 9824 --seed 1"
