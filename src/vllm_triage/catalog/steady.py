"""What a healthy server logs for weeks, in lower case: a literal that stands in it marks lines of no interest."""

from __future__ import annotations

# One line of each kind, of all releases.
STEADY = "\n".join(
    (
        "(apiserver pid=1) info 11-20 10:00:00 [loggers.py:127] engine 000: avg prompt throughput: 0.1 tokens/s, avg generation throughput: 0.1 tokens/s, running: 1 reqs, waiting: 0 reqs, swapped: 0 reqs, pending: 0 reqs, gpu kv cache usage: 1.0%, cpu kv cache usage: 0.0%, prefix cache hit rate: 0.0%, external prefix cache hit rate: 0.0%, mm cache hit rate: 0.0%",
        "specdecoding metrics: mean acceptance length: 1.90, accepted throughput: 1.00 tokens/s, drafted throughput: 1.00 tokens/s, accepted: 1 tokens, drafted: 2 tokens, per-position acceptance rate: 0.900, avg draft acceptance rate: 95.0%",
        'info:     10.0.0.1:50110 - "post /v1/chat/completions http/1.1" 200 ok',
        "received request chatcmpl-1: prompt: 'x', params: samplingparams(n=1, presence_penalty=0.0, temperature=0.7, top_p=0.9, seed=none, stop=[], ignore_eos=false, max_tokens=100, logprobs=none, skip_special_tokens=true), prompt_token_ids: none, lora_request: none, prompt_adapter_request: none.",
        "[async_llm.py:261] added request chatcmpl-1. finished request chatcmpl-1. aborted request(s) chatcmpl-1.",
    )
)
