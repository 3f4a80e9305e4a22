"""The `vllm serve` line of the log, with a remedy's changes made to it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

Scalar = str | int | float | bool

# Where the echo of options names the model.
_MODEL_KEYS = ("model_tag", "model")


def corrected_command(
    model: str | None,
    args: Mapping[str, Any],
    set_args: Mapping[str, Scalar],
    unset_args: tuple[str, ...],
    set_env: Mapping[str, str],
    unset_env: tuple[str, ...],
) -> str | None:
    """One line for a POSIX shell, or None where the log does not tell the options.

    Args:
        model: What is served.
        args: The options by name as vLLM echoes them (`non-default args`): snake case, no defaults.
        set_args, unset_args, set_env, unset_env: The changes, option names in kebab case.
    """
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
    variables = [f"{name}={shlex.quote(value)}" for name, value in set_env.items()]
    if unset_env:
        variables = ["env", *(f"-u {shlex.quote(name)}" for name in unset_env), *variables]
    return " ".join([*variables, shlex.join(parts)])


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
