"""The checks by the names that rules use; each is a pure function of facts and values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vllm_triage.catalog.rule import Confirm
from vllm_triage.model import CheckResult
from vllm_triage.probes.checks import gpu, host, model, network, python
from vllm_triage.probes.checks.answer import Check
from vllm_triage.probes.facts import Facts

CHECKS: dict[str, Check] = {
    "gpu-memory-held-by-others": gpu.memory_held,
    "gpu-memory-is-own": gpu.memory_own,
    "weights-exceed-gpu": gpu.weights_too_large,
    "gpu-absent": gpu.absent,
    "gpus-fewer-than": gpu.too_few,
    "gpu-index-absent": gpu.no_such_index,
    "driver-older-than-torch": gpu.driver_too_old,
    "driver-mismatch": gpu.driver_mismatch,
    "nvml-broken": gpu.nvml_broken,
    "compute-capability-below": gpu.capability_below,
    "gpu-faulty": gpu.faulty,
    "fabric-manager-absent": gpu.fabric_manager_absent,
    "process-killed-for-memory": host.memory_killed,
    "host-memory-below": host.memory_below,
    "shm-small": host.shm_small,
    "disk-full": host.disk_full,
    "cache-not-writable": host.folder_not_writable,
    "user-unknown": host.user_unknown,
    "limits-reached": host.limits_reached,
    "cpu-lacks-vectors": host.cpu_lacks_vectors,
    "pinned-memory-absent": host.pinned_memory_absent,
    "compiler-absent": host.compiler_absent,
    "module-absent": python.module_absent,
    "ray-absent": python.ray_absent,
    "torch-absent": python.torch_absent,
    "vllm-absent": python.vllm_absent,
    "vllm-extension-absent": python.extension_absent,
    "requirement-unmet": python.requirement_unmet,
    "binaries-differ": python.binaries_differ,
    "environment-mixed": python.mixed,
    "metadata-absent": python.metadata_absent,
    "library-absent": python.library_absent,
    "model-path-absent": model.path_absent,
    "model-config-absent": model.config_absent,
    "model-config-broken": model.config_broken,
    "weights-absent": model.weights_absent,
    "weights-damaged": model.weights_damaged,
    "tokenizer-absent": model.tokenizer_absent,
    "heads-not-divisible": model.heads_not_divisible,
    "model-length-exceeded": model.length_exceeded,
    "hub-token-absent": model.token_absent,
    "hub-cut-off": model.hub_cut_off,
    "port-taken": network.port_taken,
    "address-absent": network.address_absent,
    "interface-absent": network.interface_absent,
    "variable-set": network.variable_set,
}


def run(confirm: Confirm, facts: Facts, values: Mapping[str, Any]) -> CheckResult:
    """Run one check of a rule; its arguments are names of the rule's fields, or figures."""
    given = {
        name: values.get(value) if isinstance(value, str) else value for name, value in confirm.with_.items()
    }
    known = {name: value for name, value in given.items() if value is not None}
    return CHECKS[confirm.check](facts, known)._replace(check=confirm.check)
