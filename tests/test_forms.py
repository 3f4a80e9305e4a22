"""Forms in which a failure is printed: the cause stays readable whatever draws boxes around it."""

from __future__ import annotations

import pytest

from vllm_triage import Triager

CAUSE = "ValueError: LoRA rank 128 is greater than max_lora_rank 16."
FORMS = {
    "exception group": f"""
  + Exception Group Traceback (most recent call last):
  |   File "/venv/lib/python3.12/site-packages/anyio/_backends/_asyncio.py", line 772, in __aexit__
  |     raise BaseExceptionGroup(
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/venv/lib/python3.12/site-packages/vllm/lora/worker_manager.py", line 9, in _load_adapter
    |     raise ValueError(
    | {CAUSE}
    +------------------------------------
""",
    "rich": f"""
╭─────────────────── Traceback (most recent call last) ────────────────────╮
│ /venv/lib/python3.12/site-packages/vllm/entrypoints/llm.py:243 in __init__ │
│                                                                          │
│    240 │   │   # Create the engine                                       │
│ ❱  243 │   │   self.llm_engine = LLMEngine.from_engine_args(             │
╰──────────────────────────────────────────────────────────────────────────╯
{CAUSE}
""",
    "ipython": f"""
---------------------------------------------------------------------------
ValueError                                Traceback (most recent call last)
Cell In[3], line 2
      1 from vllm import LLM
----> 2 llm = LLM("/models/demo", enable_lora=True)

File /venv/lib/python3.12/site-packages/vllm/entrypoints/llm.py:243, in LLM.__init__(self, model)
    240     # Create the engine
--> 243     self.llm_engine = LLMEngine.from_engine_args(

{CAUSE}
""",
    "colab": f"""
ValueError                                Traceback (most recent call last)
[/usr/local/lib/python3.11/dist-packages/vllm/config.py](https://localhost:8080/#) in _verify(self)
   1159                     )
-> 1161             return fn(*args, **kwargs)

{CAUSE}
""",
    "torchrun": f"""
[rank1]: Traceback (most recent call last):
[rank1]:   File "/app/serve.py", line 7, in <module>
[rank1]:     main()
[rank1]: {CAUSE}
E1002 09:14:45.123000 4242 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 1 (pid: 4250) of binary: /venv/bin/python
============================================================
serve.py FAILED
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  exitcode  : 1 (pid: 4250)
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
""",
    "repr inside another exception": "vllm.engine.multiprocessing.MQEngineDeadError: Engine loop is not running. Inspect the stacktrace to find the original error: ValueError('LoRA rank 128 is greater than max_lora_rank 16.').",
    "native": f"terminate called after throwing an instance of 'std::runtime_error'\n  what():  {CAUSE}\n*** SIGABRT received at time=1733130885 on cpu 3 ***",
    "curly quotes, lost indentation": f"Traceback (most recent call last):\nFile “/venv/lib/python3.12/site-packages/vllm/lora/worker_manager.py”, line 9, in load\nraise ValueError(\n{CAUSE}",
    "remote task": f"ray.exceptions.RayTaskError(ValueError): \x1b[36mray::RayWorkerWrapper.execute_method()\x1b[39m (pid=9, ip=10.0.0.7, actor_id=0a1b)\n  File \"/venv/lib/python3.12/site-packages/vllm/worker/worker_base.py\", line 9, in execute_method\n    raise e\n{CAUSE}",
    "pytest": f"E   {CAUSE}\n\n/app/test_serve.py:9: ValueError",
}  # fmt: skip


@pytest.fixture(scope="module")
def triager() -> Triager:
    return Triager()


@pytest.mark.parametrize("form", sorted(FORMS))
def test_the_cause_is_read_in_each_form(triager: Triager, form: str) -> None:
    report = triager.triage(FORMS[form])

    assert [diagnosis.rule for diagnosis in report.diagnoses][:1] == ["lora-config-invalid"]
    assert "LoRA rank 128" in report.diagnoses[0].evidence[0].text


def test_a_crash_in_native_code_shows_where_python_stood(triager: Triager) -> None:
    report = triager.triage(
        "(Worker_TP0 pid=9) INFO 11-20 10:00:00 [x.py:1] one\n"
        "(Worker_TP0 pid=9) INFO 11-20 10:00:00 [x.py:1] two\n"
        "Fatal Python error: Segmentation fault\n\n"
        "Current thread 0x00007f0000000000 (most recent call first):\n"
        '  File "/venv/lib/python3.12/site-packages/torch/_ops.py", line 1 in __call__\n'
        '  File "/venv/lib/python3.12/site-packages/vllm/v1/worker/gpu_worker.py", line 2 in load_model\n\n'
        "Extension modules: numpy, torch (total: 100)\n"
        "Segmentation fault (core dumped)\n"
    )

    assert report.verdict == "failed"
    assert report.diagnoses[0].rule == "worker-died"
