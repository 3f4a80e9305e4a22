"""A long log is not parsed as a whole, and is answered as if it were."""

from __future__ import annotations

from pathlib import Path

import pytest

from vllm_triage import Triager
from vllm_triage.scan import Scanner

LOGS = Path(__file__).parent / "fixtures" / "logs"
BORING = "(APIServer pid=12) DEBUG 12-01 09:14:45 [utils.py:271] Nothing that matters here\n" * 3000


@pytest.fixture(scope="module")
def triager() -> Triager:
    return Triager()


@pytest.mark.parametrize("log", sorted(path.stem for path in LOGS.glob("*.log")))
@pytest.mark.parametrize("at", [0.0, 0.5, 1.0])
def test_lines_of_no_interest_change_no_answer(triager: Triager, log: str, at: float) -> None:
    lines = (LOGS / f"{log}.log").read_bytes().splitlines(keepends=True)
    scanner = Scanner()
    scanner.feed(b"".join(lines))
    if set(scanner.close().carriers) - {"ansi"}:
        pytest.skip("lines without its carrier would not belong to this log")
    # Between two lines of one record nothing can be written by its own process.
    cut = next(
        (row for row in range(int(at * len(lines)), len(lines)) if b" INFO " in lines[row]), len(lines)
    )
    short = triager.triage(b"".join(lines))
    long = triager.triage(b"".join([*lines[:cut], BORING.encode(), *lines[cut:]]))

    assert long.verdict == short.verdict
    assert [d.rule for d in long.diagnoses][:1] == [d.rule for d in short.diagnoses][:1]
    for before, after in zip(short.diagnoses[:1], long.diagnoses[:1], strict=True):
        moved = 3000 if before.evidence[0].line > cut else 0
        assert after.evidence[0].line == before.evidence[0].line + moved
