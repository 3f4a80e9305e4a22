"""Time stamps that a carrier puts before each line: kubectl, GitHub Actions, Buildkite, syslog, `ts`."""

from __future__ import annotations

import re

from vllm_triage.scan.carriers.evidence import LEVEL
from vllm_triage.scan.carriers.layer import Detector, Prefix

_ISO = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d)?"
_SYSLOG_TIME = r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d"
# A stamp that a level follows is the record of another logger, whose level the next stage reads;
# vLLM's stamp and uvicorn's "INFO:     " are text that is carried.
_NOT_OWN = rf"(?!\s?[-|]? ?(?:[\w.:/<>]{{1,60}}(?: ?[-|] ?| ))?\[?{LEVEL}\b(?! \d\d-\d\d \d\d:|: {{2,}}))"

DETECTORS: tuple[Detector, ...] = (
    Prefix(
        "syslog",
        re.compile(
            rf"(?:<\d{{1,3}}>)?(?:{_SYSLOG_TIME}|{_ISO}) (?!\||-)[\w.:-]{{1,80}} "
            r"[\w.@/-]{1,80}(?:\([\w-]+\))?(?:\[\d{1,10}\])?:(?: |$)"
        ),
        share=0.15,
        at_least=3,
    ),
    Prefix("buildkite", re.compile(r"_bk;t=\d{13}\x07?"), share=0.15, at_least=3),
    Prefix(
        "timestamps",
        re.compile(
            # `gh run view --log` puts job and step before the stamp
            rf"(?:[^\t]{{1,80}}\t[^\t]{{1,80}}\t)?(?:\[{_ISO}\]|{_ISO}|{_SYSLOG_TIME}|\[\d\d:\d\d:\d\d(?:[.,]\d+)?\])"
            rf"{_NOT_OWN}(?: \|)?(?:[ \t]|$)"
        ),
        share=0.15,
        at_least=3,
    ),
)
