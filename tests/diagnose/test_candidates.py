"""Which link of a chain, and which line of a failed build, is the root by its form."""

from __future__ import annotations

from textwrap import dedent

import pytest

from vllm_triage.catalog.rule import FieldSpec
from vllm_triage.diagnose.candidates import Candidate, candidates
from vllm_triage.diagnose.rank import order, typed
from vllm_triage.log import parse

CAUSE = "The above exception was the direct cause of the following exception:"
CONTEXT = "During handling of the above exception, another exception occurred:"


def first(text: str) -> Candidate:
    """The likeliest candidate without any catalog."""
    lines = list(enumerate(dedent(text).strip("\n").split("\n"), start=1))
    log = parse([lines], len(lines))
    return order(candidates(list(log), log.blocks, []))[0]


def chain(one: str, link: str, other: str) -> str:
    head = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\n'
    return f"{head}{one}\n\n{link}\n\n{head}{other}"


@pytest.mark.parametrize(
    ("one", "link", "other", "root"),
    [
        ("OSError: disk gone", CAUSE, "RuntimeError: cannot start", 1),
        ("OSError: disk gone", CONTEXT, "RuntimeError: cannot start", 1),
        ("KeyError: 'qwen9'", CONTEXT, "ValueError: unknown model type", 2),
        ("KeyError: 'the name of the model is missing'", CAUSE, "ValueError: no model", 1),
        ("StopIteration", CONTEXT, "PackageNotFoundError: no metadata", 2),
        ("AttributeError: no attribute x", CONTEXT, "ValueError: no config", 2),
        ("AttributeError: no attribute x", CAUSE, "ValueError: no config", 1),
        ("TimeoutError", CAUSE, "TimeoutError: RPC call timed out", 2),
    ],
)
def test_the_link_that_is_the_cause(one: str, link: str, other: str, root: int) -> None:
    candidate = first(chain(one, link, other))

    assert candidate.line.text == (one if root == 1 else other)


def test_the_compiler_s_line_stands_for_a_build_that_failed() -> None:
    candidate = first(
        """
        /tmp/main.c:5:10: fatal error: Python.h: No such file or directory
        Traceback (most recent call last):
          File "build.py", line 1, in build
            run()
        subprocess.CalledProcessError: Command '['gcc']' returned non-zero exit status 1.
        """
    )

    assert candidate.line.number == 1
    assert candidate.built


def test_a_worker_s_exception_comes_before_the_server_s() -> None:
    candidate = first(
        """
        (APIServer pid=1) ValueError: first in time
        (Worker_TP0 pid=9) ValueError: first in rank
        """
    )

    assert candidate.line.process == "Worker_TP0"


@pytest.mark.parametrize(
    ("text", "type_", "value"),
    [("32,768", "int", 32768), ("1.5", "float", 1.5), ("many", "int", "many"), ("7", "str", "7")],
)
def test_groups_become_their_type_where_they_read_as_it(text: str, type_: str, value: object) -> None:
    assert typed(text, FieldSpec(type_)) == value  # type: ignore[arg-type]
