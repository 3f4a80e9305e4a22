"""Rules and findings built by hand, so that a test shows the facts it is about."""

from __future__ import annotations

from vllm_triage.catalog.rule import FieldSpec, RemedySpec, Rule, Signature
from vllm_triage.model import Finding, Hit, Line

KV_CACHE = Rule(
    id="kv-cache-below-max-len",
    family="memory",
    title="The KV cache cannot hold one request of the maximum length",
    rank="specific",
    phase="kv-cache",
    retry="change",
    status="stable",
    since="0.1.0",
    signatures=(Signature(id="v1", pattern="max seq len"),),
    summary="One request of {max_model_len} tokens needs {needed_gib:.2f} GiB, and {available_gib:.2f} GiB is left.",
    fields={
        "max_model_len": FieldSpec("int", "tokens"),
        "needed_gib": FieldSpec("float", "GiB"),
        "available_gib": FieldSpec("float", "GiB"),
    },
    derive={"fits_tokens": "largest-max-model-len"},
    remedies=(
        RemedySpec("Lower --max-model-len to what fits", "safe", set_args={"max-model-len": "{fits_tokens}"}),
        RemedySpec("Quantize the KV cache", "safe", set_args={"kv-cache-dtype": "fp8"}),
        RemedySpec("See what else holds the GPU", "safe", command=("nvidia-smi", "--format=csv")),
    ),
    references=("https://docs.vllm.ai/en/latest/configuration/conserving_memory.html",),
)
FIELDS: dict[str, int | float | str] = {"max_model_len": 32768, "needed_gib": 4.0, "available_gib": 1.2}
PROOF = "ValueError: To serve at least one request with the model's max seq len (32768), 4.00 GiB KV cache is needed"


def make_finding(
    rule: Rule = KV_CACHE, text: str = PROOF, confidence: float = 0.95, **fields: int | float | str
) -> Finding:
    line = Line(160, 161, text, process="EngineCore_DP0", pid=271, kind="exception")
    return Finding(rule, confidence, (Hit(rule, rule.signatures[0], line),), fields or FIELDS)
