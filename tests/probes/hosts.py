"""Hosts made of known facts, for tests of the checks."""

from __future__ import annotations

from dataclasses import replace

from vllm_triage.probes.facts import Facts
from vllm_triage.probes.facts.environment import Environment
from vllm_triage.probes.facts.gpus import Gpu, GpuProcess, Gpus
from vllm_triage.probes.facts.host import Disk, Host
from vllm_triage.probes.facts.hub import Hub
from vllm_triage.probes.facts.libraries import Libraries, Library
from vllm_triage.probes.facts.model import Model
from vllm_triage.probes.facts.network import Listener, Network
from vllm_triage.probes.facts.packages import Python

SITE = "/opt/venv/lib/python3.12/site-packages"
GPU = Gpu(index=0, name="NVIDIA L4", memory_total_mib=23_034, memory_used_mib=4, memory_free_mib=23_030, compute_capability="8.9", needs_reset=False, pending_retirement=False, ecc_uncorrected=0)  # fmt: skip
PYTHON = Python(
    site_packages=(SITE,), version="3.12", packages={"vllm": "0.11.0", "torch": "2.8.0"}, modules=("torch", "transformers", "vllm"),
    extensions=("_C.abi3.so",), options=("host", "max-model-len", "model", "port", "tensor-parallel-size", "dtype", "gpu-memory-utilization"),
    duplicates={}, conflicts=(), torch_cuda="12.8",
)  # fmt: skip
MODEL = Model(
    name="/models/tiny", kind="path", path="/models/tiny", exists=True,
    config={"architectures": ["LlamaForCausalLM"], "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 32,
            "hidden_size": 4096, "max_position_embeddings": 131_072, "torch_dtype": "bfloat16"},
    tokenizer_files=("tokenizer.json",), weight_files=("model.safetensors",), weights_bytes=2 << 30,
)  # fmt: skip
# A healthy machine with one idle GPU.
GOOD = Facts(
    gpus=Gpus(driver="570.86.15", cuda="12.8", devices=(GPU,)),
    environment=Environment({}),
    python=PYTHON,
    libraries=Libraries({"libcudnn": (Library("/usr/lib/libcudnn.so.9", "ldconfig"),)}, searched_cache=True),
    model=MODEL,
    hub=Hub("https://huggingface.co", False, "HF_TOKEN", None, "/root/.cache/huggingface/hub", True, True),
    host=Host(
        system="Linux", memory_total_gib=64, memory_available_gib=60, oom_kills=0, shm_total_gib=32, shm_free_gib=32,
        disks=(Disk("hub cache", "/root/.cache", 500, 400, True),), open_files_limit=1 << 20, uid=0, uid_has_name=True, kernel=(),
        compilers=("gcc", "cc", "nvcc"), cpu_flags=("avx2", "avx512f"), fabric_manager=True, container=False,
    ),
    network=Network("host", 8000, {"lo": ("127.0.0.1",), "eth0": ("10.0.0.5",)}, listeners=()),
)  # fmt: skip


def with_holder(mib: int = 20_000) -> Facts:
    """The same machine, where another process holds the GPU."""
    held = replace(
        GPU,
        memory_used_mib=mib,
        memory_free_mib=23_034 - mib,
        processes=(GpuProcess(4242, mib, "python", None, None, None),),
    )
    assert GOOD.gpus
    return replace(GOOD, gpus=replace(GOOD.gpus, devices=(held,)))


def with_listener(port: int = 8000) -> Facts:
    assert GOOD.network
    return replace(
        GOOD, network=replace(GOOD.network, listeners=(Listener("0.0.0.0", port, 4242, "python"),))
    )
