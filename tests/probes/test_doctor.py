"""What is said of a host before a start."""

from __future__ import annotations

from dataclasses import replace

from tests.probes.hosts import GOOD, PYTHON, with_holder
from vllm_triage.probes.doctor import examine
from vllm_triage.probes.facts import Facts
from vllm_triage.probes.facts.environment import Environment
from vllm_triage.probes.facts.gpus import Gpus


def test_nothing_is_wrong_with_a_good_host() -> None:
    facts = replace(GOOD, python=replace(PYTHON, torch_cuda=None))  # whose libraries need not be found

    assert {line.state for line in examine(facts)} == {"fine"}


def test_who_holds_a_gpu_is_named() -> None:
    (line,) = [line for line in examine(with_holder()) if line.area == "GPU"]

    assert line.state == "look"
    assert "4242" in line.text


def test_what_is_wrong_stands_first() -> None:
    facts = replace(
        GOOD,
        gpus=Gpus(problem="NVML library not found"),
        environment=Environment({"LD_LIBRARY_PATH": "/old"}),
        python=replace(PYTHON, conflicts=("torch 2.9 is installed, and vllm requires torch==2.8",)),
    )
    states = [line.state for line in examine(facts)]

    assert states[:2] == ["wrong", "wrong"]
    assert states == sorted(states, key=["wrong", "look", "unknown", "fine"].index)


def test_a_build_for_the_cpu_needs_no_gpu() -> None:
    facts = replace(
        GOOD,
        gpus=Gpus(problem="NVML library not found"),
        python=replace(PYTHON, packages={"vllm": "0.11.0", "torch": "2.8.0+cpu"}),
    )

    assert [line.state for line in examine(facts) if line.area == "GPU"] == ["fine"]


def test_parts_that_did_not_answer_are_unknown() -> None:
    (line,) = [
        line
        for line in examine(Facts(problems={"gpus": "no answer within 2 s", "python": "x"}))
        if line.area == "gpus"
    ]

    assert (line.state, line.text) == ("unknown", "no answer within 2 s")
