"""How the tests of this package read a text."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import pytest

from vllm_triage.log import parse
from vllm_triage.model import Log


@pytest.fixture(scope="session")
def read() -> Callable[[str], Log]:
    def read_text(text: str) -> Log:
        lines = list(enumerate(dedent(text).strip("\n").split("\n"), start=1))
        return parse([lines], len(lines))

    return read_text
