"""The command line of a remedy: as it was typed, or made of what the log tells."""

from __future__ import annotations

import pytest

from vllm_triage.model import Context
from vllm_triage.remedy.serve import corrected_command


@pytest.mark.parametrize(
    "argv, command",
    [
        ("vllm serve m --port 1", "vllm serve m --port 2"),
        ("/x/bin/python3 /x/bin/vllm serve m --port 1", "vllm serve m --port 2"),
        ("numactl -N 0 vllm serve m", "numactl -N 0 vllm serve m --port 2"),
        ("python -m vllm.entrypoints.openai.api_server --model m", "python -m vllm.entrypoints.openai.api_server --model m --port 2"),
        ("docker run --name vllm image", None),
        ("bash start.sh", None),
    ],
)  # fmt: skip
def test_the_command_that_was_typed_is_the_one_that_is_corrected(argv: str, command: str | None) -> None:
    context = Context(model="m", argv=tuple(argv.split()))

    assert corrected_command(context, {"port": 2}, (), {}, ()) == command


def test_a_secret_that_was_typed_is_not_repeated() -> None:
    context = Context(model="m", argv=("vllm", "serve", "m", "--api-key", "sesame", "--port", "1"))

    assert "sesame" not in (corrected_command(context, {"port": 2}, (), {}, ()) or "")
