"""Each check on a host that confirms and on one that does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.probes.hosts import GOOD, GPU, MODEL, PYTHON, SITE, with_holder, with_listener
from vllm_triage.catalog import load_catalog
from vllm_triage.catalog.rule import Confirm
from vllm_triage.probes.checks import CHECKS, run
from vllm_triage.probes.facts import Facts
from vllm_triage.probes.facts.environment import Environment
from vllm_triage.probes.facts.gpus import Gpus
from vllm_triage.probes.facts.host import Disk
from vllm_triage.probes.facts.libraries import Libraries, Library

NVML_GONE = Gpus(problem="NVML library not found")
WHEEL = Libraries(
    {"libcudnn": (Library(f"{SITE}/nvidia/cudnn/lib/libcudnn.so.9", "wheel"),)}, searched_cache=True
)


def host(**changes: Any) -> Facts:
    assert GOOD.host
    return replace(GOOD, host=replace(GOOD.host, **changes))


def python(**changes: Any) -> Facts:
    return replace(GOOD, python=replace(PYTHON, **changes))


def model(**changes: Any) -> Facts:
    return replace(GOOD, model=replace(MODEL, **changes))


def gpu(**changes: Any) -> Facts:
    return gpus(devices=(replace(GPU, **changes),))


def gpus(**changes: Any) -> Facts:
    assert GOOD.gpus
    return replace(GOOD, gpus=replace(GOOD.gpus, **changes))


def hub(**changes: Any) -> Facts:
    assert GOOD.hub
    return replace(GOOD, hub=replace(GOOD.hub, **changes))


def environment(**variables: str) -> Facts:
    return replace(GOOD, environment=Environment(variables))


# check, values, a host that confirms, what the good host says
CASES: list[tuple[str, dict[str, Any], Facts, str]] = [
    ("gpu-memory-held-by-others", {}, with_holder(), "refutes"),
    ("gpu-memory-is-own", {}, GOOD, "confirms"),
    ("weights-exceed-gpu", {}, model(weights_bytes=40 << 30), "unknown"),
    ("gpu-absent", {}, replace(GOOD, gpus=NVML_GONE), "refutes"),
    ("gpu-absent", {}, environment(CUDA_VISIBLE_DEVICES=""), "refutes"),
    ("gpus-fewer-than", {"needed": 1}, environment(CUDA_VISIBLE_DEVICES=""), "refutes"),
    ("gpus-fewer-than", {"needed": 2}, GOOD, "confirms"),
    ("gpu-index-absent", {"index": 1}, GOOD, "confirms"),
    ("gpu-index-absent", {"index": 0}, environment(CUDA_VISIBLE_DEVICES=""), "refutes"),
    ("driver-older-than-torch", {}, python(torch_cuda="13.0"), "refutes"),
    ("driver-mismatch", {}, replace(GOOD, gpus=Gpus(problem="Driver/library version mismatch")), "refutes"),
    ("nvml-broken", {}, replace(GOOD, gpus=NVML_GONE), "refutes"),
    ("compute-capability-below", {"needed": 8.0}, gpu(compute_capability="7.5"), "refutes"),
    ("compute-capability-below", {"needed": "8.0"}, gpu(compute_capability="7.5"), "refutes"),
    ("gpu-faulty", {}, gpu(needs_reset=True), "refutes"),
    ("gpu-faulty", {}, host(kernel=("NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.",)), "refutes"),
    ("fabric-manager-absent", {}, host(fabric_manager=False), "refutes"),
    ("process-killed-for-memory", {}, host(oom_kills=1), "refutes"),
    ("process-killed-for-memory", {}, host(oom_kills=None, kernel=("Out of memory: Killed process 7 (python)",)), "refutes"),
    ("host-memory-below", {"gib": 64.5}, GOOD, "confirms"),
    ("host-memory-below", {"gib": 16}, host(cgroup_limit_gib=8.0), "refutes"),
    ("shm-small", {}, host(shm_total_gib=0.06, shm_free_gib=0.06), "refutes"),
    ("disk-full", {}, host(disks=(Disk("hub cache", "/x", 100, 0.2, True),)), "unknown"),
    ("cache-not-writable", {}, host(disks=(Disk("hub cache", "/x", 100, 50, False),)), "unknown"),
    ("user-unknown", {}, host(uid=1234, uid_has_name=False), "refutes"),
    ("limits-reached", {}, host(pids=500, pids_limit=512), "unknown"),
    ("limits-reached", {}, host(open_files_limit=1024), "unknown"),
    ("cpu-lacks-vectors", {}, host(cpu_flags=("avx2",)), "refutes"),
    ("pinned-memory-absent", {}, host(wsl=True), "unknown"),
    ("compiler-absent", {}, host(compilers=("nvcc",)), "refutes"),
    ("compiler-absent", {"program": "nvcc"}, host(compilers=("gcc",)), "refutes"),
    ("module-absent", {"module": "xgrammar"}, GOOD, "confirms"),
    ("module-absent", {"module": "torch"}, python(modules=("vllm",)), "refutes"),
    ("ray-absent", {}, GOOD, "confirms"),
    ("torch-absent", {}, python(modules=("vllm",)), "unknown"),
    ("vllm-absent", {}, replace(GOOD, python=None), "refutes"),
    ("vllm-extension-absent", {}, python(extensions=()), "unknown"),
    ("requirement-unmet", {}, python(conflicts=("transformers 4.40 is installed, and vllm 0.11.0 requires more",)), "unknown"),
    ("binaries-differ", {}, python(conflicts=("torch 2.9.0 is installed, and vllm 0.11.0 requires torch==2.8.0",)), "unknown"),
    ("environment-mixed", {}, python(duplicates={"torch": (SITE, "/root/.local")}), "refutes"),
    ("environment-mixed", {}, environment(PYTHONPATH="/old"), "refutes"),
    ("metadata-absent", {"package": "vllm"}, python(packages={}), "refutes"),
    ("library-absent", {"library": "libcudnn.so.9"}, replace(GOOD, libraries=Libraries({}, True)), "refutes"),
    ("library-absent", {"library": "libcudnn.so.8"}, replace(GOOD, libraries=WHEEL), "confirms"),
    ("model-path-absent", {}, model(exists=False), "refutes"),
    ("model-config-absent", {}, model(config_problem="there is no config.json"), "refutes"),
    ("model-config-broken", {}, model(config_problem="config.json is no JSON"), "unknown"),
    ("weights-absent", {}, model(weight_files=()), "refutes"),
    ("weights-absent", {}, model(missing=("model-2.safetensors",)), "refutes"),
    ("weights-damaged", {}, model(truncated=("model.safetensors",)), "refutes"),
    ("tokenizer-absent", {}, model(tokenizer_files=()), "unknown"),
    ("heads-not-divisible", {"size": 3}, GOOD, "confirms"),
    ("heads-not-divisible", {"size": 4}, model(config={"num_attention_heads": 6}), "refutes"),
    ("model-length-exceeded", {"max_model_len": 200_000}, GOOD, "confirms"),
    ("hub-token-absent", {}, hub(token=None), "unknown"),
    ("hub-cut-off", {}, replace(hub(offline=True), model=replace(MODEL, exists=False, kind="repo")), "unknown"),
    ("port-taken", {}, with_listener(), "unknown"),
    ("address-absent", {"host": "10.9.9.9"}, GOOD, "confirms"),
    ("interface-absent", {}, environment(GLOO_SOCKET_IFNAME="ib0"), "unknown"),
    ("variable-set", {"variable": "VLLM_PORT"}, environment(VLLM_PORT="tcp://10.0.0.1"), "unknown"),
]  # fmt: skip


@pytest.mark.parametrize("check, values, confirming, good", CASES, ids=[case[0] for case in CASES])
def test_a_check_tells_hosts_apart(check: str, values: dict[str, Any], confirming: Facts, good: str) -> None:
    answer = CHECKS[check](confirming, values)

    assert answer.outcome == "confirms"
    assert answer.detail
    assert CHECKS[check](GOOD, values).outcome == good


def two_gpus(busy: int, **variables: str) -> Facts:
    """Two GPUs, of which others hold one."""
    facts = with_holder()
    assert facts.gpus
    held, idle = facts.gpus.devices[0], GPU
    devices = tuple(
        replace(held if index == busy else idle, index=index, uuid=f"GPU-{index}a") for index in (0, 1)
    )
    return replace(facts, gpus=replace(facts.gpus, devices=devices), environment=Environment({**variables}))


@pytest.mark.parametrize(
    "facts, values, outcome",
    [
        (two_gpus(0), {}, "confirms"),
        (two_gpus(1), {}, "unknown"),
        (two_gpus(1), {"gpus": 2}, "confirms"),
        (two_gpus(1), {"gpu": 0}, "refutes"),
        (two_gpus(1), {"gpu": 1}, "confirms"),
        (two_gpus(1, CUDA_VISIBLE_DEVICES="1"), {"gpu": 0}, "confirms"),
        (two_gpus(0, CUDA_VISIBLE_DEVICES="1"), {}, "refutes"),
        (two_gpus(0, CUDA_VISIBLE_DEVICES="GPU-1"), {}, "refutes"),
        (two_gpus(0, CUDA_VISIBLE_DEVICES="1,0"), {"gpu": 1}, "confirms"),
        (two_gpus(0, CUDA_VISIBLE_DEVICES=""), {}, "unknown"),
    ],
)
def test_memory_counts_on_the_gpus_that_the_start_takes(
    facts: Facts, values: dict[str, int], outcome: str
) -> None:
    opposite = {"confirms": "refutes", "refutes": "confirms", "unknown": "unknown"}[outcome]

    assert CHECKS["gpu-memory-held-by-others"](facts, values).outcome == outcome
    assert CHECKS["gpu-memory-is-own"](facts, values).outcome == opposite


@pytest.mark.parametrize(
    "shown, needed, outcome",
    [("0,1", 2, "refutes"), ("0,7,1", 2, "confirms"), ("-1", 1, "confirms"), ("0", 2, "confirms")],
)
def test_gpus_are_counted_as_cuda_counts_them(shown: str, needed: int, outcome: str) -> None:
    facts = two_gpus(0, CUDA_VISIBLE_DEVICES=shown)

    assert CHECKS["gpus-fewer-than"](facts, {"needed": needed}).outcome == outcome


def test_memory_of_the_start_itself_is_nobody_elses() -> None:
    facts = with_holder()
    assert facts.gpus
    device = facts.gpus.devices[0]
    own = replace(device, processes=(replace(device.processes[0], own=True),))
    hidden = replace(device, processes=(replace(device.processes[0], name=None),))

    for devices, outcome in (((own,), "refutes"), ((hidden,), "unknown"), ((device,), "confirms")):
        living = replace(facts, gpus=replace(facts.gpus, devices=devices, start_lives=True))
        assert CHECKS["gpu-memory-held-by-others"](living, {}).outcome == outcome


def test_every_check_is_tried() -> None:
    assert {case[0] for case in CASES} == CHECKS.keys()


@pytest.mark.parametrize("check", CHECKS)
def test_a_host_of_which_nothing_is_known_refutes_nothing(check: str) -> None:
    assert CHECKS[check](Facts(problems={"python": "no answer"}), {}).outcome == "unknown"


@given(
    check=st.sampled_from(sorted(CHECKS)),
    facts=st.sampled_from([GOOD, Facts(), with_holder()]),
    value=st.one_of(st.text(max_size=20), st.integers(), st.floats(), st.none(), st.booleans()),
)
def test_no_value_of_a_log_breaks_a_check(check: str, facts: Facts, value: Any) -> None:
    names = ("gpu", "gpus", "needed", "index", "gib", "program", "module", "package", "library", "size", "max_model_len", "port", "host", "variable")  # fmt: skip

    assert CHECKS[check](facts, dict.fromkeys(names, value)).outcome in {"confirms", "refutes", "unknown"}


def test_a_check_gets_the_fields_that_its_rule_names() -> None:
    answer = run(Confirm("gpus-fewer-than", {"needed": "world_size"}), GOOD, {"world_size": 4})

    assert (answer.check, answer.outcome, answer.facts["needed"]) == ("gpus-fewer-than", "confirms", 4)


def test_the_rules_use_checks_that_exist() -> None:
    used = {confirm.check for rule in load_catalog([]).rules.values() for confirm in rule.confirm}

    assert used == CHECKS.keys()
