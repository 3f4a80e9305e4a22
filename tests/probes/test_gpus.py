"""The real bindings on a library of our own, whose state each test chooses."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import psutil
import pytest

from vllm_triage import Triager
from vllm_triage.probes.collect import collect
from vllm_triage.probes.facts.gpus import Gpu, Gpus, read
from vllm_triage.probes.subject import Subject
from vllm_triage.probes.travel import facts_from

SOURCE = Path(__file__).parent / "nvml" / "nvml.c"
MEMORY = "ValueError: Free memory on device (2.11/24.0 GiB) on startup is less than desired GPU memory utilization (0.9, 21.6 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes."
GIB = 1024
ELSEWHERE = 4_190_000  # a pid that no process here has

Put = Callable[..., None]
Ask = Callable[..., Gpus]


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("needs a C compiler on Linux to build the library")
    folder = tmp_path_factory.mktemp("nvml")
    flags = ["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([compiler, *flags, "-o", folder / "libnvidia-ml.so.1", SOURCE], check=True)
    return folder


@pytest.fixture
def put(library: Path, monkeypatch: pytest.MonkeyPatch) -> Put:
    """Puts the library where the loader looks first, in a state."""

    def put(state: str, pid: int = 0) -> None:
        monkeypatch.setenv("LD_LIBRARY_PATH", str(library))
        monkeypatch.setenv("NVML_STATE", state)
        monkeypatch.setenv("NVML_PID", str(pid))

    return put


@pytest.fixture
def ask(put: Put) -> Ask:
    def ask(state: str, pid: int = 0) -> Gpus:
        put(state, pid)
        return read(timeout_s=60)

    return ask


@pytest.fixture
def first(ask: Ask) -> Callable[..., Gpu]:
    return lambda state, pid=0: ask(state, pid).devices[0]


def test_two_idle_gpus(ask: Ask) -> None:
    gpus = ask("idle")

    assert (gpus.driver, gpus.cuda, gpus.problem) == ("570.86.15", "12.8", None)
    assert gpus.devices[0] == Gpu(
        index=0,
        uuid="GPU-00000000-0000-0000-0000-000000000000",
        name="Test GPU",
        memory_total_mib=24 * GIB,
        memory_used_mib=1,
        memory_free_mib=24 * GIB - 512 - 1,
        unlisted_mib=1,
        compute_capability="8.9",
        mig=False,
        compute_mode="default",
        ecc_uncorrected=0,
        throttle=(),
        needs_reset=False,
    )
    assert gpus.devices[1].index == 1


def test_a_process_that_holds_memory_is_named(first: Callable[..., Gpu]) -> None:
    gpu = first("held", pid=os.getpid())

    (process,) = gpu.processes
    assert (process.pid, process.memory_mib) == (os.getpid(), 19 * GIB)
    assert process.name
    assert process.user
    assert process.command
    assert "pytest" in process.command
    assert process.age_s is not None
    assert (gpu.memory_used_mib, gpu.unlisted_mib) == (20 * GIB, 1 * GIB)


@pytest.mark.parametrize("pid", [ELSEWHERE, 0xFFFF_FFFF])
def test_a_process_of_another_namespace_is_a_number_alone(first: Callable[..., Gpu], pid: int) -> None:
    (process,) = first("held", pid=pid).processes

    assert (process.pid, process.memory_mib) == (pid, 19 * GIB)
    assert {process.name, process.command, process.user, process.age_s} == {None}


def test_memory_of_processes_that_are_not_listed_is_told(first: Callable[..., Gpu]) -> None:
    gpu = first("hidden")

    assert gpu.processes == ()
    assert gpu.unlisted_mib == 20 * GIB


def test_a_process_in_two_lists_is_one(first: Callable[..., Gpu]) -> None:
    (process,) = first("drawing", pid=ELSEWHERE).processes

    assert process.memory_mib == 19 * GIB


@pytest.mark.parametrize("driver", ["r470", "r535"])
def test_drivers_with_other_entry_points_are_understood(first: Callable[..., Gpu], driver: str) -> None:
    gpu = first(driver, pid=ELSEWHERE)

    assert [(process.pid, process.memory_mib) for process in gpu.processes] == [(ELSEWHERE, 19 * GIB)]
    assert gpu.memory_total_mib == 24 * GIB


def test_a_command_is_shown_without_its_secrets(first: Callable[..., Gpu]) -> None:
    secret = "swordfish-4711"
    program = "print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program, "--api-key", secret, "\x1b[31mred", "x" * 1000],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as child:
        assert child.stdout
        child.stdout.readline()
        (process,) = first("held", pid=child.pid).processes
        child.kill()

    assert process.command
    assert "--api-key [redacted:key] red" in process.command
    assert process.command.isprintable()
    assert len(process.command) <= 300


def test_names_of_the_driver_are_cleaned(first: Callable[..., Gpu]) -> None:
    assert first("hostile").name == "Test GPU"


@pytest.mark.parametrize(
    "state, said",
    [
        ("mismatch", "driver/library version mismatch"),
        ("denied", "no permission"),
        ("unloaded", "the NVIDIA kernel module is not loaded"),
        ("uncounted", "NVML does not start: Unknown Error"),
        ("crash", "was ended by SIGABRT"),
    ],
)
def test_a_library_that_does_not_answer_says_why(ask: Ask, state: str, said: str) -> None:
    gpus = ask(state)

    assert gpus.devices == ()
    assert said in (gpus.problem or "")


def test_no_gpu_at_all(ask: Ask) -> None:
    assert ask("none") == Gpus(driver="570.86.15", cuda="12.8")


@pytest.mark.parametrize(
    "state, fact",
    [
        ("mig", {"mig": True}),
        ("exclusive", {"compute_mode": "exclusive process"}),
        ("unified", {"memory_total_mib": None, "memory_used_mib": None, "unlisted_mib": None}),
        ("ecc", {"ecc_uncorrected": 3}),
        ("rows", {"retired_pages": 3, "pending_retirement": True}),
        ("pages", {"retired_pages": 3, "pending_retirement": True}),
        ("throttled", {"throttle": ("hardware slowdown", "heat (hardware)")}),
        ("nvlink", {"nvlink": (17, 18)}),
    ],
)
def test_states_of_a_device(first: Callable[..., Gpu], state: str, fact: dict[str, object]) -> None:
    gpu = first(state)

    assert {name: getattr(gpu, name) for name in fact} == fact


@pytest.mark.parametrize("state", ["lost", "reset"])
def test_one_gpu_that_needs_a_reset(ask: Ask, state: str) -> None:
    gpus = ask(state)

    assert [gpu.needs_reset for gpu in gpus.devices] == [False, True]
    assert gpus.devices[0].memory_total_mib == 24 * GIB


def test_the_facts_survive_json(ask: Ask) -> None:
    for state in ("held", "nvlink", "throttled", "lost", "mismatch"):
        gpus = ask(state, pid=os.getpid())

        assert facts_from({"gpus": json.loads(json.dumps(asdict(gpus)))}).gpus == gpus


@pytest.mark.parametrize("state", ["hang", "hang-load", "hang-late"])
def test_a_driver_that_hangs_is_left_behind(put: Put, state: str) -> None:
    put(state)

    assert read(timeout_s=0.5) == Gpus(problem="NVML gave no answer within 0.5 s")


def test_a_hung_process_ends_with_the_one_that_asked(
    put: Put, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put("hang")
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    monkeypatch.setenv("NVML_FIFO", str(fifo))
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)

    def next_of_the_hung() -> bytes:
        assert select.select([reader], [], [], 60)[0], "neither a sign of life nor its end"
        return os.read(reader, 1)

    program = "from vllm_triage.probes.facts.gpus import read; read()"
    try:
        with subprocess.Popen([sys.executable, "-c", program]) as asking:
            assert next_of_the_hung() == b"!"
            asking.kill()
        assert next_of_the_hung() == b""
    finally:
        os.close(reader)


def test_a_driver_that_hangs_costs_its_part_alone(put: Put) -> None:
    put("hang-load")

    facts = collect(Subject(), timeout_s=3)

    assert facts.problems == {"gpus": "no answer within 3 s"}
    assert facts.host


def test_a_driver_that_crashes_costs_its_part_alone(put: Put) -> None:
    put("crash")

    facts = collect(Subject(), timeout_s=60)

    assert facts.gpus
    assert "SIGABRT" in (facts.gpus.problem or "")
    assert facts.host


def test_without_the_library_it_is_said() -> None:
    if shutil.which("nvidia-smi"):
        pytest.skip("this machine has a driver")

    problem = read(timeout_s=60).problem

    assert problem
    assert problem.startswith("NVML's library was not found")


def test_the_bindings_are_not_imported_here(ask: Ask) -> None:
    ask("idle")

    assert "pynvml" not in sys.modules


def test_the_same_log_on_an_idle_and_on_a_busy_machine(put: Put) -> None:
    found = {}
    for state in ("held", "idle"):
        put(state, pid=os.getpid())
        found[state] = Triager(probes=True).triage(MEMORY).diagnoses[0].status

    assert found == {"held": "confirmed", "idle": "refuted"}


OWN = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.64 GiB of which 1.50 GiB is free."


def test_processes_of_the_start_that_live_on_are_not_taken_for_others(put: Put) -> None:
    worker = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(flush=True); input()'])"
    with subprocess.Popen(
        [sys.executable, "-c", worker], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin
        assert server.stdout
        server.stdout.readline()
        (holder,) = psutil.Process(server.pid).children()
        put("held", pid=holder.pid)
        log = f"(EngineCore_DP0 pid={server.pid}) ERROR 12-01 03:56:20 [core.py:708] {OWN}"

        living = Triager(probes=True).triage(log).diagnoses[0]
        foreign = Triager(probes=True).triage(OWN).diagnoses[0]
        server.stdin.write("\n")

    assert (living.rule, living.status) == ("cuda-oom", "confirmed")
    assert foreign.status == "refuted"


def test_a_number_that_is_another_programs_by_now_is_not_the_start(ask: Ask, put: Put) -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        put("held", pid=other.pid)

        gpus = read(timeout_s=60, pids=[other.pid, ELSEWHERE, 1 << 70])
        other.kill()

    assert not gpus.start_lives
    assert not gpus.devices[0].processes[0].own
