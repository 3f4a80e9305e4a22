"""Every carrier, and every two of them nested either way, around a log that must come out unchanged."""

from __future__ import annotations

from itertools import product

import pytest

from ..logs import CARRIERS, LOG, scan_texts


@pytest.mark.parametrize("carrier", CARRIERS)
def test_one(carrier: str) -> None:
    assert scan_texts(CARRIERS[carrier](LOG)) == LOG


@pytest.mark.parametrize(("outer", "inner"), list(product(CARRIERS, repeat=2)))
def test_two(outer: str, inner: str) -> None:
    assert scan_texts(CARRIERS[outer](CARRIERS[inner](LOG))) == LOG


@pytest.mark.parametrize(
    "nest",
    [
        ("gh-run-view", "compose", "logger"),
        ("docker-json", "json-message", "tag"),
        ("quote", "grep", "journald"),
        ("indentation", "kubectl-timestamps", "docker-json", "srun"),
    ],
)
def test_more(nest: tuple[str, ...]) -> None:
    lines = LOG
    for carrier in reversed(nest):
        lines = CARRIERS[carrier](lines)
    assert scan_texts(lines) == LOG
