"""A `vllm serve` command line, read as far as the checks ahead of a start need it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

_SHORT = {
    "-tp": "tensor-parallel-size",
    "-pp": "pipeline-parallel-size",
    "-dp": "data-parallel-size",
    "-dpl": "data-parallel-size-local",
    "-dpn": "data-parallel-rank",
    "-dpb": "data-parallel-backend",
    "-n": "nnodes",
    "-q": "quantization",
}
_SCRIPTS = ("api_server", "vllm.entrypoints.openai.api_server")


class CommandError(Exception):
    """No vLLM server would be started by this; the message says what was expected."""


@dataclass(frozen=True)
class Command:
    """`options` are by name without dashes, short ones that mean nothing here with theirs; a flag is True.

    `program` is the `vllm` or the interpreter that would be started.
    """

    program: str
    model: str | None
    options: dict[str, str | bool]

    def text(self, name: str) -> str | None:
        value = self.options.get(name)
        return value if isinstance(value, str) else None

    def whole(self, name: str, default: int) -> int:
        """An option as a number; 2k and 2K are 2000 and 2048, as vLLM reads them."""
        text = self.text(name) or ""
        factor = {"k": 1000, "K": 1024, "m": 10**6, "M": 1 << 20, "g": 10**9, "G": 1 << 30}.get(text[-1:], 1)
        try:
            return int(float(text[:-1] if factor != 1 else text) * factor)
        except (ValueError, OverflowError):
            return default

    def size(self, name: str) -> int:
        """A number of parts, such as the tensor parallel size: at least 1."""
        return max(self.whole(name, 1), 1)

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
            long = flag[2:].replace("_", "-").partition(".")[0] if flag.startswith("--") else flag
            name = _SHORT.get(flag, long)
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
