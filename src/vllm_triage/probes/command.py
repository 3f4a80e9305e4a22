"""A `vllm serve` command line, read as far as the checks ahead of a start need it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

_SHORT = {
    "-tp": "tensor-parallel-size",
    "-pp": "pipeline-parallel-size",
    "-dp": "data-parallel-size",
    "-q": "quantization",
}
_SCRIPTS = ("api_server", "vllm.entrypoints.openai.api_server")


class CommandError(Exception):
    """No vLLM server would be started by this; the message says what was expected."""


@dataclass(frozen=True)
class Command:
    """`options` are by name without dashes; a flag is True. `program` is what the shell would start."""

    program: str
    model: str | None
    options: dict[str, str | bool]

    def text(self, name: str) -> str | None:
        value = self.options.get(name)
        return value if isinstance(value, str) else None

    def whole(self, name: str, default: int) -> int:
        """An option as a number; 2k and 2K are 2000 and 2048, as vLLM reads them."""
        text = self.text(name) or ""
        factor = {"k": 1000, "K": 1024, "m": 1_000_000, "M": 1 << 20}.get(text[-1:], 1)
        try:
            return int(float(text[:-1] if factor != 1 else text) * factor)
        except ValueError:
            return default

    def share(self, name: str, default: float) -> float:
        try:
            return float(self.text(name) or default)
        except ValueError:
            return default


def read_command(words: Sequence[str]) -> Command:
    """Read `vllm serve MODEL --option value ...`, or the same through `python -m`.

    Raises:
        CommandError: It is neither.
    """
    if not words:
        raise CommandError("expected a command after --, such as `-- vllm serve MODEL`")
    program, rest = _after_program(list(words))
    if program is None:
        raise CommandError(f"expected `vllm serve ...`, got `{' '.join(words[:3])}`")
    model: str | None = None
    options: dict[str, str | bool] = {}
    name: str | None = None
    for word in rest:
        if word.startswith("-") and not _is_number(word):
            flag, equals, value = word.partition("=")
            name = _SHORT.get(flag, flag.lstrip("-").replace("_", "-").partition(".")[0])
            options[name] = value if equals else True
            name = None if equals else name
        elif name is not None:
            options[name] = word
            name = None
        elif model is None:
            model = word
    named = options.get("model")
    return Command(program, model or (named if isinstance(named, str) else None), options)


def _after_program(words: list[str]) -> tuple[str | None, list[str]]:
    """The `vllm` or the interpreter that is started, be it through another program, and its arguments."""
    python = "python"
    for at, word in enumerate(words):
        name = os.path.basename(word)
        if name == "vllm" and words[at + 1 : at + 2] == ["serve"]:
            return word, words[at + 2 :]
        if word.endswith(_SCRIPTS) or word.endswith("api_server.py"):
            return python, words[at + 1 :]
        if name.startswith("python"):
            python = word
    return None, []


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
