"""All facts in one go: within the time, whatever hangs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vllm_triage.probes.collect import collect
from vllm_triage.probes.facts import Facts
from vllm_triage.probes.subject import Subject
from vllm_triage.probes.travel import FactsError, from_file, to_json


def test_every_part_answers_here() -> None:
    facts = collect(
        Subject(model="/no/such/model", variables={"HF_TOKEN": "hf_" + "a" * 34, **os.environ}), timeout_s=30
    )

    assert facts.problems == {}
    assert facts.host
    assert facts.network
    assert facts.gpus
    assert facts.model
    assert not facts.model.exists
    assert facts.environment
    assert facts.environment.get("HF_TOKEN")
    assert "aaaa" not in to_json(facts)


def test_a_part_that_hangs_costs_itself_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.json")  # reading it never ends, as on a dead network file system

    facts = collect(Subject(model=str(tmp_path)), timeout_s=3)

    assert facts.problems == {"model": "no answer within 3 s"}
    assert facts.host


def test_facts_travel(tmp_path: Path) -> None:
    facts = collect(Subject(model="/no/such/model"), timeout_s=30)
    file = tmp_path / "facts.json"
    file.write_text(to_json(facts))

    assert to_json(from_file(file)) == to_json(facts)


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "neither facts"),
        ("Dec 01 ERROR something", "neither facts"),
        ("[1, 2]", "without facts"),
        ("{}", "without facts"),
        ('{"format": 99}', "format 99"),
        ('{"format": "1"}', "format '1'"),
    ],
)
def test_a_file_that_holds_no_facts_is_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "facts.json"
    file.write_text(text)

    with pytest.raises(FactsError, match=said) as error:
        from_file(file)
    assert str(file) in str(error.value)
    assert "vllm-triage collect" in str(error.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*Facts.__dataclass_fields__, "devices", "x"]), inner)
    ),
    max_leaves=10,
)


@given(content=st.dictionaries(st.sampled_from(list(Facts.__dataclass_fields__)), JSON))
def test_parts_that_do_not_read_as_facts_are_problems(
    tmp_path_factory: pytest.TempPathFactory, content: dict[str, object]
) -> None:
    file = tmp_path_factory.mktemp("facts") / "facts.json"
    file.write_text(json.dumps({**content, "format": 1}))

    facts = from_file(file)

    assert isinstance(facts.problems, dict)


REPORT = """Collecting environment information...
==============================
        System Info
==============================
OS                           : Ubuntu 22.04.4 LTS (x86_64)

==============================
       PyTorch Info
==============================
PyTorch version              : 2.8.0+cu128
Is debug build               : False
CUDA used to build PyTorch   : 12.8

==============================
      Python Environment
==============================
Python version               : 3.12.11 (main) (64-bit runtime)

==============================
       CUDA / GPU Info
==============================
Is CUDA available            : True
GPU models and configuration :
GPU 0: NVIDIA L4
GPU 1: NVIDIA L4
Nvidia driver version        : 570.86.15

==============================
Versions of relevant libraries
==============================
[pip3] numpy==2.2.6
[pip3] torch==2.8.0
[conda] torch                     2.8.0                    pypi_0    pypi

vLLM Version                 : 0.11.0
LD_LIBRARY_PATH=/usr/local/cuda/lib64
HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz0123
"""


def test_the_report_of_collect_env_is_read(tmp_path: Path) -> None:
    file = tmp_path / "env.txt"
    file.write_text(REPORT)

    facts = from_file(file)

    assert facts.gpus
    assert [gpu.name for gpu in facts.gpus.devices] == ["NVIDIA L4", "NVIDIA L4"]
    assert facts.gpus.driver == "570.86.15"
    assert facts.python
    assert facts.python.packages == {"numpy": "2.2.6", "torch": "2.8.0", "vllm": "0.11.0"}
    assert (facts.python.version, facts.python.torch_cuda) == ("3.12", "12.8")
    assert facts.environment
    assert facts.environment.get("LD_LIBRARY_PATH") == "/usr/local/cuda/lib64"
    assert "abcdefgh" not in to_json(facts)
