"""Would this command fail on this host? Each answer borrows the rule that would explain the failure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from vllm_triage.probes.checks import gpu, host, model, network, python
from vllm_triage.probes.checks.answer import Check, Values
from vllm_triage.probes.command import Command
from vllm_triage.probes.doctor import is_cpu_build
from vllm_triage.probes.facts import Facts
from vllm_triage.probes.facts.gpus import Gpu

_GIB = 1 << 30
_UTILIZATION = 0.9  # vLLM's default
# Activations, CUDA context, NCCL and graphs; grows with the model and batch, so it is a guess.
_OVERHEAD_GIB = 2.0
_MIN_CAPABILITY = {
    "bfloat16": 8.0,
    # Where the hardware has no 8-bit floats, vLLM keeps weights in them and computes in 16 bits.
    "fp8": 7.5,
    "awq": 7.5,
    "gptq": 6.0,
    "gptq_marlin": 7.5,
    "awq_marlin": 7.5,
}
# Latent attention and layers with a state instead of keys and values.
_OTHER_CACHES = {"kv_lora_rank", "full_attention_interval", "attn_layer_period", "hybrid_override_pattern"}
_BYTES = {"float32": 4, "float": 4}


@dataclass(frozen=True)
class Forecast:
    """One fault to expect: the rule it would be, why, and the values its remedies use.

    `certain` is False where the figures are estimates.
    """

    rule: str
    detail: str
    values: dict[str, int | float | str]
    certain: bool = True


def forecast(command: Command, facts: Facts) -> list[Forecast]:
    """What is wrong with a start before it is made; [] where nothing is."""
    return [found for look in _LOOKS for found in look(command, facts)]


def _installation(command: Command, facts: Facts) -> Iterator[Forecast]:
    if facts.python is None:
        yield from _if(python.vllm_absent, facts, "vllm-not-on-path")
        return
    differing = [conflict for conflict in facts.python.conflicts if "is not installed" not in conflict]
    for conflict in differing[:1]:
        more = len(differing) - 1
        package = conflict.partition(" ")[0]
        yield Forecast(
            "dependency-version-conflict",
            conflict + (f" (and {more} more)" if more else ""),
            {"package": package},
        )
    known = [option for name in facts.python.options for option in (name, f"no-{name}")]
    for name in command.options:
        # An abbreviation is accepted by some releases; of short options only a few are known here.
        if known and not name.startswith("-") and not any(option.startswith(name) for option in known):
            yield Forecast(
                "cli-argument-unrecognized",
                f"--{name} is no option of the vLLM installed",
                {"option": f"--{name}"},
            )


def _model(command: Command, facts: Facts) -> Iterator[Forecast]:
    yield from _if(model.path_absent, facts, "model-path-invalid", {"path": command.model or ""})
    if facts.model is None or not facts.model.exists:
        yield from _if(model.hub_cut_off, facts, "hub-unreachable")
        yield from _hub(command, facts)
        return
    for check, rule in (
        (model.config_broken, "model-config-invalid"),
        (model.weights_absent, "weights-missing"),
        (model.weights_damaged, "weights-corrupted"),
    ):
        yield from _if(check, facts, rule, {"path": facts.model.path or ""})
    asked = command.whole("max-model-len", 0)
    if asked and not _changes_length(command, facts):
        values = {"max_model_len": asked}
        yield from _if(model.length_exceeded, facts, "max-model-len-exceeds-config", values)
    size = command.size("tensor-parallel-size")
    yield from _if(
        model.heads_not_divisible, facts, "heads-not-divisible", {"size": size, "tensor_parallel_size": size}
    )


def _changes_length(command: Command, facts: Facts) -> bool:
    """Whether the model's own length is not what counts."""
    allowed = facts.environment.get("VLLM_ALLOW_LONG_MAX_MODEL_LEN") if facts.environment else None
    options = ("hf-overrides", "rope-scaling", "rope-theta")
    return allowed == "1" or any(option in command.options for option in options)


def _hub(command: Command, facts: Facts) -> Iterator[Forecast]:
    """What the hub answered for a repo, if it was asked (--online)."""
    answer = facts.hub.answer if facts.hub else None
    rule = {401: "hub-unauthorized", 403: "hub-gated", 404: "hub-not-found", 429: "hub-rate-limited"}.get(
        answer or 0
    )
    # Without a token a repo that needs one looks as if it did not exist.
    if rule and not (facts.hub and facts.hub.token and answer in {401, 403}):
        yield Forecast(rule, f"the hub answers {answer} for {command.model}", {"repo": command.model or ""})


def _devices(command: Command, facts: Facts) -> Iterator[Forecast]:
    if is_cpu_build(facts):
        return
    yield from _if(gpu.absent, facts, "no-gpu-detected")
    world, replicas = _per_host(command)
    values: Values = {
        "needed": world,
        "world_size": world,
        "gpus": len(facts.gpus.devices) if facts.gpus else 0,
    }
    few = list(_if(gpu.too_few, facts, "tensor-parallel-exceeds-gpus", values))
    if not few and replicas > 1:
        last = {"index": world * replicas - 1, "device": world * replicas - 1}
        few = list(_if(gpu.no_such_index, facts, "device-ordinal-invalid", last))
    # Ray may have more of them on other hosts.
    yield from (replace(fault, certain=not _on_ray(command)) for fault in few)
    for device in _used(command, facts)[:1]:
        yield from _capability(command, facts, device)
        yield from _memory(command, facts, device)


def _per_host(command: Command) -> tuple[int, int]:
    """The GPUs of one replica on this host, and how many replicas it is to have."""
    world = command.size("tensor-parallel-size") * command.size("pipeline-parallel-size")
    here = -(-world // command.size("nnodes"))
    if "data-parallel-size-local" in command.options:
        return here, command.size("data-parallel-size-local")
    elsewhere = {"data-parallel-rank", "data-parallel-address", "nnodes", "headless"}
    return here, 1 if elsewhere & command.options.keys() else command.size("data-parallel-size")


def _on_ray(command: Command) -> bool:
    return "ray" in {command.text("distributed-executor-backend"), command.text("data-parallel-backend")}


def _capability(command: Command, facts: Facts, device: Gpu) -> Iterator[Forecast]:
    dtype = command.text("dtype")
    quantization = command.text("quantization") or (
        facts.model.config.get("quantization") if facts.model else None
    )
    for what in (dtype, quantization):
        needed = _MIN_CAPABILITY.get(str(what))
        if needed and device.compute_capability and float(device.compute_capability) < needed:
            detail = f"{what} needs compute capability {needed:g}, and GPU {device.index} has {device.compute_capability}"
            yield Forecast("compute-capability-too-low", detail, {"what": str(what), "needed": needed})


def _memory(command: Command, facts: Facts, device: Gpu) -> Iterator[Forecast]:
    if not device.memory_total_mib:
        return
    total, free = device.memory_total_mib / 1024, (device.memory_free_mib or 0) / 1024
    share = command.share("gpu-memory-utilization", _UTILIZATION)
    asked = share * total
    if free < asked:
        yield Forecast(
            "gpu-memory-held-by-others",
            f"{free:.1f} of {total:.1f} GiB are free on GPU {device.index}, and a share of {share:g} asks for {asked:.1f} GiB",
            {
                "free_gib": round(free, 2),
                "total_gib": round(total, 2),
                "utilization": share,
                "requested_gib": round(asked, 2),
                "gpu": device.index,
            },
        )
    if facts.model is None or not facts.model.weights_bytes:
        return
    parts = command.size("tensor-parallel-size") * command.size("pipeline-parallel-size")
    weights = facts.model.weights_bytes / parts / _GIB
    if weights > asked:
        yield Forecast(
            "cuda-oom-weights",
            f"the weights take {weights:.1f} GiB on each GPU, and {asked:.1f} GiB may be used",
            {"total_gib": round(total, 2)},
        )
        return
    yield from _cache(command, facts, asked - weights - _OVERHEAD_GIB, weights)


def _cache(command: Command, facts: Facts, available: float, weights: float) -> Iterator[Forecast]:
    """Keys and values of every layer and token: 2 * layers * kv_heads * head_dim * bytes, divided among the GPUs."""
    config = facts.model.config if facts.model else {}
    per_token = bytes_per_token(config, command.text("kv-cache-dtype"))
    length = command.whole("max-model-len", 0) or config.get("max_position_embeddings")
    if per_token is None or not isinstance(length, int):
        return
    needed = per_token * length / command.size("tensor-parallel-size") / _GIB
    if available <= 0:
        yield Forecast(
            "kv-cache-no-memory",
            f"about nothing is left beside {weights:.1f} GiB of weights",
            {},
            certain=False,
        )
    elif needed > available:
        yield Forecast(
            "kv-cache-below-max-len",
            f"a request of {length} tokens needs about {needed:.1f} GiB of KV cache, and about {available:.1f} GiB are left "
            f"(an estimate: {per_token // 1024} KiB a token, {_OVERHEAD_GIB:g} GiB set aside for activations)",
            {"max_model_len": length, "needed_gib": round(needed, 2), "available_gib": round(available, 2)},
            certain=False,
        )


def bytes_per_token(config: dict[str, object], cache_dtype: str | None) -> int | None:
    """Bytes of KV cache one token takes on all GPUs together, for plain attention; None if config.json does not tell."""
    if _OTHER_CACHES & config.keys():
        return None
    layers, heads, hidden = (
        config.get(key) for key in ("num_hidden_layers", "num_attention_heads", "hidden_size")
    )
    if not isinstance(layers, int) or not isinstance(heads, int) or not isinstance(hidden, int) or not heads:
        return None
    head_dim = config.get("head_dim")
    size = head_dim if isinstance(head_dim, int) else hidden // heads
    kv_heads = config.get("num_key_value_heads")
    kept = kv_heads if isinstance(kv_heads, int) else heads
    width = (
        1
        if (cache_dtype or "").startswith("fp8")
        else _BYTES.get(str(config.get("torch_dtype") or config.get("dtype")), 2)
    )
    return 2 * layers * kept * size * width


def _host(command: Command, facts: Facts) -> Iterator[Forecast]:
    port = command.whole("port", 8000)
    where = command.text("host") or ""
    if "uds" not in command.options:
        yield from _if(network.port_taken, facts, "port-in-use", {"port": port, "host": where})
    yield from _if(network.address_absent, facts, "bind-failed", {"host": where} if where else {})
    if command.size("tensor-parallel-size") > 1:
        yield from _if(host.shm_small, facts, "shm-too-small")
    for check, rule in ((host.disk_full, "disk-full"), (host.user_unknown, "user-id-unknown")):
        yield from _if(check, facts, rule)


def _used(command: Command, facts: Facts) -> list[Gpu]:
    """The GPUs a start would take, the one with the least free memory first."""
    devices = gpu.visible_gpus(facts)
    world, replicas = _per_host(command)
    return sorted(devices[: world * replicas], key=lambda device: device.memory_free_mib or 0)


def _if(check: Check, facts: Facts, rule: str, values: Values | None = None) -> Iterator[Forecast]:
    answer = check(facts, values or {})
    if answer.outcome == "confirms":
        yield Forecast(
            rule,
            answer.detail,
            {**(values or {}), **{k: v for k, v in answer.facts.items() if isinstance(v, (int, float, str))}},
        )


_LOOKS: tuple[Callable[[Command, Facts], Iterator[Forecast]], ...] = (_installation, _model, _devices, _host)
