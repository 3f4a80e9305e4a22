"""What NVIDIA says to do about an Xid: from restarting a program to replacing a board."""

from __future__ import annotations

import pytest

from vllm_triage import triage


@pytest.mark.parametrize(
    "number, said",
    [
        (13, "Restart the program"),
        (48, "gpu-reset"),
        (79, "Reboot the host"),
        (45, "the Xid before it"),
        (63, "remapped"),
    ],
)
def test_the_number_decides_what_to_do(number: int, said: str) -> None:
    cause = triage(f"[1.2] NVRM: Xid (PCI:0000:3b:00): {number}, pid=1, name=python, something\n").cause

    assert cause
    assert cause.rule == "gpu-hardware-fault"
    assert said in " ".join(step for remedy in cause.remedies for step in remedy.steps)


def test_an_unknown_number_leaves_the_general_advice() -> None:
    cause = triage("[1.2] NVRM: Xid (PCI:0000:3b:00): 999, pid=1, name=python, something\n").cause

    assert cause
    assert not any("Xid 999" in remedy.title for remedy in cause.remedies)
