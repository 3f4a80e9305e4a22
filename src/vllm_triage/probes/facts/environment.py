"""The variables that decide how vLLM starts, with secret values replaced by a fingerprint."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from vllm_triage.lazy import lazy
from vllm_triage.redact import redact

_RELEVANT = lazy(
    r"(?:CUDA|HIP|ROCR|HSA|NVIDIA|VLLM|HF|HUGGING_?FACE|TRANSFORMERS|NCCL|GLOO|PYTORCH|TORCH|TORCHINDUCTOR|TRITON|FLASHINFER"
    r"|RAY|MASTER|CONDA|OMP|XDG|ASCEND|NEURON|TPU|MODELSCOPE|UCX|NVSHMEM)_[A-Z0-9_]+"
    r"|LD_LIBRARY_PATH|LD_PRELOAD|PYTHONPATH|PYTHONHOME|PYTHONNOUSERSITE|VIRTUAL_ENV|PATH|HOME|TMPDIR|LANG|RANK|LOCAL_RANK|WORLD_SIZE"
    r"|CC|CXX|KUBERNETES_SERVICE_HOST|SLURM_JOB_ID|(?:HTTPS?|ALL|NO)_PROXY"
)
_SECRET = lazy(r"TOKEN|SECRET|PASS|API_?KEY|ACCESS_?KEY|CREDENTIAL|COOKIE")


@dataclass(frozen=True)
class Environment:
    """The relevant variables of the process that failed (or of this one), safe to show."""

    variables: dict[str, str]

    def get(self, name: str) -> str | None:
        return self.variables.get(name)


def read(variables: Mapping[str, str]) -> Environment:
    return Environment(
        {
            name: _safe(name, value)
            for name, value in sorted(variables.items())
            if _RELEVANT.fullmatch(name.upper())
        }
    )


def _safe(name: str, value: str) -> str:
    if not value or not _SECRET.search(name.upper()):
        return redact(value)
    # Two hosts can be compared by it, and nobody can log in with it.
    return f"[set, fingerprint {hashlib.sha256(value.encode('utf-8', 'replace')).hexdigest()[:8]}]"
