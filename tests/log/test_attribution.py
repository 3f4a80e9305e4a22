"""Raw tracebacks of releases that print them without a prefix."""

from __future__ import annotations

from collections.abc import Callable

from vllm_triage.model import Log

RAW = """Traceback (most recent call last):
  File "/opt/vllm/core.py", line 9, in run
ValueError: no room"""


def test_a_raw_traceback_belongs_to_the_process_of_its_stamped_copy(read: Callable[[str], Log]) -> None:
    stamp = "(EngineCore pid=5) ERROR 11-20 10:00:09 [core.py:708] "
    log = read("\n".join([*(stamp + line for line in RAW.split("\n")), RAW]))

    assert [block.process for block in log.blocks] == ["EngineCore", "EngineCore"]


def test_another_exception_of_the_same_type_stays_without_a_process(read: Callable[[str], Log]) -> None:
    stamp = "(EngineCore pid=5) ERROR 11-20 10:00:09 [core.py:708] "
    log = read("\n".join([*(stamp + line for line in RAW.split("\n")), RAW.replace("line 9", "line 8")]))

    assert [block.process for block in log.blocks] == ["EngineCore", ""]
