"""Time stamps that a carrier puts before each line: kubectl, GitHub Actions, Buildkite, syslog, `ts`."""

from __future__ import annotations

from collections.abc import Sequence

from vllm_triage.lazy import lazy
from vllm_triage.scan.carriers.evidence import LEVEL
from vllm_triage.scan.carriers.layer import Detector, Found, Prefix, prefix_found

_ISO = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d)?"
_SYSLOG_TIME = r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d"
_STAMP = (
    # `gh run view --log` puts job and step before the stamp
    rf"(?:[^\t]{{1,80}}\t[^\t]{{1,80}}\t)?(?:\[{_ISO}\]|{_ISO}|{_SYSLOG_TIME}|\[\d\d:\d\d:\d\d(?:[.,]\d+)?\])"
)
_ANY = lazy(rf"{_STAMP}(?: \|)?(?:[ \t]|$)")
# A stamp that a level follows is the record of another logger, whose level the next stage reads;
# vLLM's stamp and uvicorn's "INFO:     " are text that is carried.
_CARRYING = lazy(
    rf"{_STAMP}(?!\s?[-|]? ?(?:[\w.:/<>]{{1,60}}(?: ?[-|] ?| ))?\[?{LEVEL}\b(?! \d\d-\d\d \d\d:|: {{2,}}))"
    r"(?: \|)?(?:[ \t]|$)"
)
# Where this share of the stamps carries text, the others do too: it is records that they carry.
_MOSTLY = 0.8


def _timestamps(sample: Sequence[str]) -> Found | None:
    stamped = sum(1 for line in sample if _ANY.match(line))
    carrying = sum(1 for line in sample if _CARRYING.match(line))
    if carrying < max(3, 0.15 * len(sample)):
        return None
    pattern = _ANY if carrying >= _MOSTLY * stamped else _CARRYING
    return prefix_found("timestamps", pattern, carrying / len(sample))


DETECTORS: tuple[Detector, ...] = (
    Prefix(
        "syslog",
        lazy(
            rf"(?:<\d{{1,3}}>)?(?:{_SYSLOG_TIME}|{_ISO}) (?!\||-|{LEVEL}\b)[\w.:-]{{1,80}} "
            r"(?P<service>[\w.@/-]{1,80})(?:\([\w-]+\))?(?:\[\d{1,10}\])?:(?: |$)"
        ),
        share=0.15,
        at_least=3,
    ),
    Prefix("buildkite", lazy(r"_bk;t=\d{13}\x07?"), share=0.15, at_least=3),
    _timestamps,
)
