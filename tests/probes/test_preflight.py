"""Faults seen before the start."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.probes.hosts import GOOD, GPU, MODEL, PYTHON, with_holder, with_listener
from vllm_triage.catalog import load_catalog
from vllm_triage.probes.command import CommandError, read_command
from vllm_triage.probes.facts import Facts
from vllm_triage.probes.facts.environment import Environment
from vllm_triage.probes.facts.gpus import Gpus
from vllm_triage.probes.preflight import bytes_per_token, forecast

SERVE = ["vllm", "serve", "/models/tiny", "--max-model-len", "8192"]


def rules(facts: Facts, *words: str) -> set[str]:
    return {fault.rule for fault in forecast(read_command([*SERVE, *words]), facts)}


def test_a_start_that_would_work_is_let_go() -> None:
    assert rules(GOOD) == set()


@pytest.mark.parametrize(
    "facts, words, rule",
    [
        (GOOD, ["-tp", "2"], "tensor-parallel-exceeds-gpus"),
        (GOOD, ["-dp", "2"], "device-ordinal-invalid"),
        (GOOD, ["-tp", "4", "-n", "2"], "tensor-parallel-exceeds-gpus"),
        (GOOD, ["--tensor-parallel-size=3"], "heads-not-divisible"),
        (GOOD, ["--max-model-len", "200k"], "max-model-len-exceeds-config"),
        (GOOD, ["--swap-spase", "4"], "cli-argument-unrecognized"),
        (GOOD, ["--host", "10.9.9.9"], "bind-failed"),
        (with_holder(), [], "gpu-memory-held-by-others"),
        (with_listener(), [], "port-in-use"),
        (replace(GOOD, gpus=Gpus(problem="NVML library not found")), [], "no-gpu-detected"),
        (replace(GOOD, model=replace(MODEL, exists=False)), [], "model-path-invalid"),
        (replace(GOOD, model=replace(MODEL, truncated=("a.safetensors",))), [], "weights-corrupted"),
        (replace(GOOD, model=replace(MODEL, weights_bytes=40 << 30)), [], "cuda-oom-weights"),
        (replace(GOOD, gpus=Gpus(devices=(replace(GPU, compute_capability="7.5"),))), ["--dtype", "bfloat16"], "compute-capability-too-low"),
        (replace(GOOD, python=None), [], "vllm-not-on-path"),
        (replace(GOOD, python=replace(PYTHON, conflicts=("torch 2 is installed, and vllm requires torch==2.8",))), [], "dependency-version-conflict"),
    ],
)  # fmt: skip
def test_a_fault_is_seen_before_the_start(facts: Facts, words: list[str], rule: str) -> None:
    assert rule in rules(facts, *words)
    assert rules(facts, *words) <= load_catalog([]).rules.keys()


def configured(**keys: object) -> Facts:
    return replace(GOOD, model=replace(MODEL, config={**MODEL.config, **keys}))


@pytest.mark.parametrize(
    "facts, words",
    [
        (GOOD, ["-O3"]),
        (GOOD, ["-cc.mode=3", "-ep"]),
        (GOOD, ["-tp", "2", "--nnodes", "2"]),
        (GOOD, ["-dp", "8", "-dpl", "1"]),
        (GOOD, ["-dp", "8", "--data-parallel-rank", "3"]),
        (replace(GOOD, gpus=Gpus(devices=(replace(GPU, compute_capability="8.0"),))), ["--quantization", "fp8"]),
        (configured(max_position_embeddings=4096, rope_scaling={"rope_type": "yarn", "factor": 4.0}), []),
        (configured(max_position_embeddings=4096, model_max_length=8192), []),
        (replace(configured(max_position_embeddings=4096), environment=Environment({"VLLM_ALLOW_LONG_MAX_MODEL_LEN": "1"})), []),
        (configured(max_position_embeddings=4096), ["--hf-overrides", "{}"]),
        (with_listener(), ["--uds", "/run/vllm.sock"]),
        (GOOD, ["-pp", "0", "-tp", "1e400"]),
    ],
)  # fmt: skip
def test_a_start_that_works_is_not_spoken_against(facts: Facts, words: list[str]) -> None:
    more = (word.lstrip("-") for word in read_command([*SERVE, *words]).options if word[:1] != "-")
    known = replace(PYTHON, options=(*PYTHON.options, *more))

    assert rules(replace(facts, python=known), *words) == set()


def test_llama_counts_its_scaling_already() -> None:
    scaled = configured(max_position_embeddings=4096, rope_scaling={"rope_type": "llama3", "factor": 8.0})

    assert rules(scaled) == {"max-model-len-exceeds-config"}


def test_ray_may_have_more_gpus_elsewhere() -> None:
    words = [*SERVE, "-tp", "2", "--distributed-executor-backend", "ray"]
    options = (*PYTHON.options, "distributed-executor-backend")
    (fault,) = forecast(read_command(words), replace(GOOD, python=replace(PYTHON, options=options)))

    assert (fault.rule, fault.certain) == ("tensor-parallel-exceeds-gpus", False)


@pytest.mark.parametrize("answer, token, rule", [(401, None, "hub-unauthorized"), (404, "HF_TOKEN", "hub-not-found"), (200, None, None), (403, "HF_TOKEN", None)])  # fmt: skip
def test_what_the_hub_answered_is_told(answer: int, token: str | None, rule: str | None) -> None:
    assert GOOD.hub
    facts = replace(
        GOOD,
        model=replace(MODEL, exists=False, kind="repo"),
        hub=replace(GOOD.hub, answer=answer, token=token),
    )

    assert rules(facts) == ({rule} if rule else set())


def test_the_cache_of_a_long_request_is_an_estimate() -> None:
    (fault,) = forecast(
        read_command(["vllm", "serve", "/models/tiny", "--max-model-len", "131072"]),
        replace(GOOD, model=replace(MODEL, weights_bytes=5 << 30)),
    )

    assert fault.rule == "kv-cache-below-max-len"
    assert not fault.certain
    # 2 * 32 layers * 8 heads * 128 * 2 bytes * 131072 tokens
    assert fault.values["needed_gib"] == 16.0


def test_bytes_of_a_token() -> None:
    """Llama 3.1 8B: 128 KiB a token, as vLLM's own message of 16 GiB for 131072 tokens says."""
    assert bytes_per_token(MODEL.config, None) == 128 * 1024
    assert bytes_per_token(MODEL.config, "fp8_e5m2") == 64 * 1024
    assert bytes_per_token({}, None) is None
    assert bytes_per_token({**MODEL.config, "kv_lora_rank": 512}, None) is None


@pytest.mark.parametrize(
    "words, model, options",
    [
        (["vllm", "serve", "m", "--port", "1", "--enforce-eager"], "m", {"port": "1", "enforce-eager": True}),
        (["/x/bin/vllm", "serve", "--max_model_len=5", "m"], "m", {"max-model-len": "5"}),
        (["python", "-m", "vllm.entrypoints.openai.api_server", "--model", "m", "-tp", "2"], "m", {"model": "m", "tensor-parallel-size": "2"}),
        (["vllm", "serve", "m", "--seed", "-1"], "m", {"seed": "-1"}),
        (["nohup", "python3", "/x/bin/vllm", "serve", "m"], "m", {}),
    ],
)  # fmt: skip
def test_a_command_is_read(words: list[str], model: str, options: dict[str, object]) -> None:
    command = read_command(words)

    assert (command.model, command.options) == (model, options)


@pytest.mark.parametrize("words", [[], ["vllm", "bench"], ["ls", "-l"]])
def test_what_starts_no_server_is_refused(words: list[str]) -> None:
    with pytest.raises(CommandError, match="expected"):
        read_command(words)


@pytest.mark.parametrize("text, number", [("8192", 8192), ("8k", 8000), ("8K", 8192), ("x", 7)])
def test_lengths_are_read_as_vllm_reads_them(text: str, number: int) -> None:
    assert read_command([*SERVE[:3], "--max-model-len", text]).whole("max-model-len", 7) == number


@pytest.mark.parametrize(
    "words, program",
    [
        (["/x/bin/vllm", "serve", "m"], "/x/bin/vllm"),
        (["env", "A=1", "/x/bin/vllm", "serve", "m"], "/x/bin/vllm"),
        (["/x/bin/python", "-m", "vllm.entrypoints.openai.api_server", "--model", "m"], "/x/bin/python"),
    ],
)
def test_the_program_that_would_start_is_known(words: list[str], program: str) -> None:
    assert read_command(words).program == program
