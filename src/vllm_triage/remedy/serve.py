"""The `vllm serve` line of the log, with a remedy's changes made to it."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from vllm_triage.model import Context
from vllm_triage.redact import redact_data, redact_words
from vllm_triage.remedy.apply import apply_args

Scalar = str | int | float | bool

_IMAGE = "vllm/vllm-openai"
# Where the echo of options names the model.
_MODEL_KEYS = ("model_tag", "model")


def corrected_command(
    context: Context,
    set_args: Mapping[str, Scalar],
    unset_args: tuple[str, ...],
    set_env: Mapping[str, str],
    unset_env: tuple[str, ...],
) -> str | None:
    """One line for a POSIX shell, or None where neither the log nor its process tell the options.

    The command as it was typed where it is known; else one made of the options that vLLM echoes
    (`non-default args`: snake case, no defaults).

    Args:
        context: The start that failed.
        set_args, unset_args, set_env, unset_env: The changes, option names in kebab case.
    """
    variables = [f"{name}={shlex.quote(value)}" for name, value in set_env.items()]
    if unset_env:
        variables = ["env", *(f"-u {shlex.quote(name)}" for name in unset_env), *variables]
    typed = _as_typed(context.argv)
    if typed:
        parts = apply_args(redact_words(typed), set_args, unset_args, context.model)
        return " ".join([*variables, shlex.join(parts)])
    model, args = context.model, redact_data(context.args)
    if not model or not args:
        return None
    options = {name.replace("_", "-"): value for name, value in args.items() if name not in _MODEL_KEYS}
    options |= {name.replace("_", "-"): value for name, value in set_args.items()}
    for name in unset_args:
        options.pop(name.replace("_", "-"), None)
    parts = ["vllm", "serve", model]
    for name, value in options.items():
        rendered = _option(name, value)
        if rendered is None:
            return None
        parts += rendered
    return " ".join([*variables, shlex.join(parts)])


def _as_typed(argv: Sequence[str]) -> list[str]:
    """The command as it was typed, with what stands before `vllm serve` (sudo, numactl); [] if it is no such command.

    The process of a script shows its interpreter first, which nobody typed.
    """
    for at, word in enumerate(argv):
        if os.path.basename(word) == "vllm" and argv[at + 1 : at + 2] == ("serve",):
            typed = [*argv[:at], "vllm", *argv[at + 1 :]]
            return typed[1:] if at == 1 and os.path.basename(argv[0]).startswith("python") else typed
        if (word == "-m" and argv[at + 1 : at + 2] and argv[at + 1].startswith("vllm.")) or _IMAGE in word:
            return list(argv)
    return []


def _option(name: str, value: Any) -> list[str] | None:
    """The words of one option; None for a value that has no form on a command line."""
    flag = f"--{name}"
    if value is None:
        return []
    if isinstance(value, bool):
        return [flag if value else f"--no-{name}"]
    if isinstance(value, dict):
        return [flag, json.dumps(value)]
    if isinstance(value, (list, tuple)):
        return (
            [flag, *map(str, value)] if all(isinstance(item, (str, int, float)) for item in value) else None
        )
    if isinstance(value, (str, int, float)):
        text = str(value)
        # A value that begins with a dash would be read as the next option.
        return [f"{flag}={text}"] if text.startswith("-") else [flag, text]
    return None
