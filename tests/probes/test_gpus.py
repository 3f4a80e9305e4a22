"""The real bindings on a library of our own, whose state each test chooses."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from vllm_triage import Triager
from vllm_triage.probes.collect import collect
from vllm_triage.probes.facts.gpus import Gpus
from vllm_triage.probes.subject import Subject

SOURCE = Path(__file__).parent / "nvml" / "nvml.c"
MEMORY = "ValueError: Free memory on device (2.11/24.0 GiB) on startup is less than desired GPU memory utilization (0.9, 21.6 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes."

Ask = Callable[..., Gpus]


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("needs a C compiler on Linux to build the library")
    folder = tmp_path_factory.mktemp("nvml")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", folder / "libnvidia-ml.so.1", SOURCE], check=True)
    return folder


@pytest.fixture
def ask(library: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ask]:
    def read(state: str, pid: int = 0) -> Gpus:
        monkeypatch.setenv("LD_LIBRARY_PATH", str(library))
        monkeypatch.setenv("NVML_STATE", state)
        monkeypatch.setenv("NVML_PID", str(pid))
        facts = collect(Subject(), timeout_s=30)
        assert facts.gpus, facts.problems
        return facts.gpus

    return read


def test_two_idle_gpus(ask: Ask) -> None:
    gpus = ask("idle")

    assert (gpus.driver, gpus.cuda, gpus.problem) == ("570.86.15", "12.8", None)
    assert [gpu.index for gpu in gpus.devices] == [0, 1]
    first = gpus.devices[0]
    assert (first.name, first.compute_capability) == ("Test GPU", "8.9")
    assert (first.memory_total_mib, first.memory_used_mib) == (24 * 1024, 1)
    assert (first.mig, first.compute_mode, first.ecc_uncorrected, first.needs_reset) == (
        False,
        "default",
        0,
        False,
    )
    assert first.processes == ()
    assert first.retired_pages is None  # the library has no such function, as an old driver


def test_a_process_that_holds_memory_is_named(ask: Ask) -> None:
    gpus = ask("held", pid=os.getpid())

    (process,) = gpus.devices[0].processes
    assert (process.pid, process.memory_mib) == (os.getpid(), 19 * 1024)
    assert process.name
    assert process.command
    assert "pytest" in process.command
    assert process.age_s is not None


def test_a_process_of_another_namespace_is_a_number_alone(ask: Ask) -> None:
    (process,) = ask("held", pid=4_190_000).devices[0].processes

    assert (process.pid, process.name, process.command) == (4_190_000, None, None)


@pytest.mark.parametrize("state, said", [("mismatch", "version mismatch"), ("denied", "Permission")])
def test_a_library_that_does_not_start_says_why(ask: Ask, state: str, said: str) -> None:
    gpus = ask(state)

    assert gpus.devices == ()
    assert said in (gpus.problem or "")


def test_no_gpu_at_all(ask: Ask) -> None:
    assert ask("none") == Gpus(driver="570.86.15", cuda="12.8")


def test_states_of_a_device(ask: Ask) -> None:
    assert ask("mig").devices[0].mig is True
    assert ask("exclusive").devices[0].compute_mode == "exclusive process"
    assert ask("ecc").devices[0].ecc_uncorrected == 3
    assert ask("unified").devices[0].memory_total_mib is None
    assert [gpu.needs_reset for gpu in ask("lost").devices] == [False, True]


def test_a_driver_that_hangs_costs_its_part_alone(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(library))
    monkeypatch.setenv("NVML_STATE", "hang")

    facts = collect(Subject(), timeout_s=3)

    assert facts.problems == {"gpus": "no answer within 3 s"}
    assert facts.host


def test_without_the_library_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("nvidia-smi"):
        pytest.skip("this machine has a driver")
    facts = collect(Subject(), timeout_s=30)

    assert facts.gpus
    assert "NVML" in (facts.gpus.problem or "")


def test_the_same_log_on_an_idle_and_on_a_busy_machine(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(library))
    monkeypatch.setenv("NVML_PID", str(os.getpid()))
    found = {}
    for state in ("held", "idle"):
        monkeypatch.setenv("NVML_STATE", state)
        found[state] = Triager(probes=True).triage(MEMORY).diagnoses[0].status

    assert found == {"held": "confirmed", "idle": "refuted"}
