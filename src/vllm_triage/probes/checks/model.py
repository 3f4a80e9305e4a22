"""Checks on the model's files and on what the hub needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vllm_triage.model import CheckResult
from vllm_triage.probes.checks.answer import Values, confirms, number, refutes, unknown
from vllm_triage.probes.facts import Facts
from vllm_triage.probes.facts.model import Model

_NOTHING = "which model it was is not known here"


def path_absent(facts: Facts, values: Values) -> CheckResult:
    """The model's path does not exist."""
    model = facts.model
    if model is None:
        return unknown(_NOTHING)
    if model.exists:
        return refutes(f"{model.path} exists", path=model.path)
    if model.kind == "path":
        return confirms(f"{model.path} does not exist", path=model.path)
    return unknown(f"{model.name} is no path here and not in the hub's cache")


def config_absent(facts: Facts, values: Values) -> CheckResult:
    """There is no config.json."""
    model = _there(facts)
    if model is None:
        return unknown(_absent(facts))
    if model.config_problem == "there is no config.json":
        return confirms(f"{model.path} holds no config.json", path=model.path)
    return refutes(f"{model.path} holds a config.json", path=model.path)


def config_broken(facts: Facts, values: Values) -> CheckResult:
    """config.json can't be read, or names no architecture."""
    model = _there(facts)
    if model is None:
        return unknown(_absent(facts))
    if model.config_problem:
        return confirms(model.config_problem)
    if not model.config.get("architectures"):
        return confirms("config.json names no architectures")
    return unknown("config.json can be read")


def weights_absent(facts: Facts, values: Values) -> CheckResult:
    """No weight files, or fewer than the index names."""
    model = _there(facts)
    if model is None:
        return unknown(_absent(facts))
    if model.missing:
        return confirms(
            f"{len(model.missing)} weight files of the index are missing, such as {model.missing[0]}"
        )
    if not model.weight_files:
        return confirms(f"{model.path} holds no weight files")
    return refutes(f"{model.path} holds all {len(model.weight_files)} weight files")


def weights_damaged(facts: Facts, values: Values) -> CheckResult:
    """A weight file is shorter than its header says."""
    model = _there(facts)
    if model is None:
        return unknown(_absent(facts))
    if model.truncated:
        return confirms(f"{model.truncated[0]} is cut off or has no header", files=list(model.truncated[:10]))
    if model.weight_files and all(name.endswith(".safetensors") for name in model.weight_files):
        return refutes("every weight file is as long as its header says")
    return unknown("no damage is visible from outside")


def tokenizer_absent(facts: Facts, values: Values) -> CheckResult:
    """There are no tokenizer files."""
    model = _there(facts)
    if model is None:
        return unknown(_absent(facts))
    if not model.tokenizer_files:
        return confirms(f"{model.path} holds no tokenizer files")
    return unknown(f"{model.path} holds {', '.join(model.tokenizer_files)}")


def heads_not_divisible(facts: Facts, values: Values) -> CheckResult:
    """The attention heads do not divide by `size`."""
    heads = facts.model.config.get("num_attention_heads") if facts.model else None
    size = number(values, "size")
    if not isinstance(heads, int) or not size or size < 1:
        return unknown("the number of attention heads or the parallel size is not known")
    said = f"{heads} attention heads by {size:g}"
    return (
        confirms(f"{said} leaves a rest", heads=heads)
        if heads % int(size)
        else refutes(f"{said} leaves no rest", heads=heads)
    )


def length_exceeded(facts: Facts, values: Values) -> CheckResult:
    """The model's own length is below `max_model_len`."""
    config = facts.model.config if facts.model else {}
    own = config.get("max_position_embeddings")
    asked = number(values, "max_model_len")
    if not isinstance(own, int) or asked is None:
        return unknown("the model's length is not known here")
    said = f"config.json allows {own} positions, and {asked:g} are asked for"
    longest = config.get("model_max_length")
    scaled = max(own * _rope_factor(config), longest if isinstance(longest, int) else 0)
    if own < asked <= scaled:
        return unknown(f"{said}; with its RoPE scaling {scaled:g} may be", positions=own)
    return confirms(said, positions=own) if asked > own else unknown(said, positions=own)


def _rope_factor(config: Mapping[str, Any]) -> float:
    """By how much config.json may stretch its positions: releases differ in which kinds they multiply by."""
    scaling = config.get("rope_scaling") or config.get("rope_parameters")
    if not isinstance(scaling, dict) or "llama3" in (scaling.get("rope_type"), scaling.get("type")):
        return 1.0
    factor = number(scaling, "factor")
    return max(factor or 1.0, 1.0)


def token_absent(facts: Facts, values: Values) -> CheckResult:
    """The process has no token for the hub."""
    hub = facts.hub
    if hub is None:
        return unknown("nothing is known of the hub's settings")
    if hub.token_problem:
        return confirms(f"the token is of no use: {hub.token_problem}")
    if hub.token is None:
        return confirms("there is neither HF_TOKEN nor a token file")
    return unknown(f"there is a token ({hub.token}); whether it has access is not asked")


def hub_cut_off(facts: Facts, values: Values) -> CheckResult:
    """Offline mode with nothing in the cache, or a proxy on the way."""
    hub = facts.hub
    if hub is None:
        return unknown("nothing is known of the hub's settings")
    cached = facts.model is not None and facts.model.exists
    if hub.offline and not cached:
        return confirms("offline mode is set, and the model is not in the cache", offline=True)
    if hub.answer is not None:
        return refutes(f"the hub answers from here, with status {hub.answer}", status=hub.answer)
    return unknown("whether the hub answers is not asked without --online", offline=hub.offline)


def _there(facts: Facts) -> Model | None:
    return facts.model if facts.model and facts.model.exists and not facts.model.problem else None


def _absent(facts: Facts) -> str:
    if facts.model is None:
        return _NOTHING
    return facts.model.problem or f"{facts.model.name} is not on this host"
