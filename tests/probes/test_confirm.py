"""The same log on two hosts: one confirms the diagnosis, the other refutes it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.probes.hosts import GOOD, MODEL, PYTHON, with_holder
from vllm_triage import Triager
from vllm_triage.probes.facts import Facts
from vllm_triage.probes.facts.libraries import Libraries

STAMP = "(EngineCore_DP0 pid=5) ERROR 11-20 10:00:09 [core.py:708] "
MEMORY = (
    STAMP
    + "ValueError: Free memory on device (2.11/22.49 GiB) on startup is less than desired GPU memory utilization (0.9, 20.24 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes."
)
OWN = (
    STAMP
    + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB. GPU 0 has a total capacity of 22.49 GiB of which 45.19 MiB is free. Including non-PyTorch memory, this process has 22.30 GiB memory in use. Of the allocated memory 21.28 GiB is allocated by PyTorch, and 3.90 MiB is reserved by PyTorch but unallocated."
)
CUDNN = "ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory"
MODULE = "ModuleNotFoundError: No module named 'xgrammar'"
PATH = "(APIServer pid=3) ERROR 11-20 10:00:09 [utils.py:1] huggingface_hub.errors.HFValidationError: Repo id must be in the form 'repo_name' or 'namespace/repo_name': '/models/tiny'. Use `repo_type` argument if needed."

NO_CUDNN = replace(GOOD, libraries=Libraries({}, searched_cache=True))
NO_PATH = replace(GOOD, model=replace(MODEL, exists=False))
XGRAMMAR = replace(GOOD, python=replace(PYTHON, modules=(*PYTHON.modules, "xgrammar")))

CORE = {
    "another process holds the memory": ("gpu-memory-held-by-others", MEMORY, with_holder(), GOOD),
    "out of memory by itself": ("cuda-oom", OWN, GOOD, with_holder()),
    "a library is missing": ("cudnn-library-missing", CUDNN, NO_CUDNN, GOOD),
    "a module is missing": ("python-module-missing", MODULE, GOOD, XGRAMMAR),
    "the path is wrong": ("model-path-invalid", PATH, NO_PATH, GOOD),
}


@pytest.mark.parametrize("rule, log, confirming, refuting", CORE.values(), ids=CORE)
def test_one_host_confirms_what_another_refutes(
    rule: str, log: str, confirming: Facts, refuting: Facts
) -> None:
    confirmed = Triager(facts=confirming).triage(log)
    refuted = Triager(facts=refuting).triage(log)

    assert confirmed.cause
    assert (confirmed.cause.rule, confirmed.cause.status) == (rule, "confirmed")
    assert refuted.cause is None or refuted.cause.rule != rule
    last = refuted.diagnoses[-1]
    assert (last.rule, last.status) == (rule, "refuted")
    assert [check.outcome for check in last.checks] == ["refutes"]
    assert last.checks[0].detail


def test_a_refuted_diagnosis_leaves_its_place_to_the_next() -> None:
    log = f"{MEMORY}\n{STAMP}ModuleNotFoundError: No module named 'xgrammar'"

    before, after = Triager().triage(log), Triager(facts=GOOD).triage(log)

    assert before.diagnoses[0].rule == "gpu-memory-held-by-others"
    assert after.cause
    assert after.cause.rule == "python-module-missing"
    assert after.diagnoses[-1].rule == "gpu-memory-held-by-others"


def test_confirmation_makes_surer_and_refutation_less_sure() -> None:
    alone = Triager().triage(MEMORY).diagnoses[0].confidence
    confirmed = Triager(facts=with_holder()).triage(MEMORY).diagnoses[0].confidence
    refuted = Triager(facts=GOOD).triage(MEMORY).diagnoses[0].confidence

    assert refuted < alone < confirmed <= 1


def test_nothing_is_asked_unless_wanted_and_the_report_says_why() -> None:
    report = Triager().triage(MEMORY)

    assert not report.probes.ran
    assert report.probes.reason
    assert report.diagnoses[0].checks == ()


def test_parts_that_did_not_answer_are_named() -> None:
    report = Triager(facts=replace(GOOD, gpus=None, problems={"gpus": "no answer within 2 s"})).triage(MEMORY)

    assert report.probes.problems == {"gpus": "no answer within 2 s"}
    assert report.diagnoses[0].checks[0].outcome == "unknown"
    assert report.diagnoses[0].status == "likely"
