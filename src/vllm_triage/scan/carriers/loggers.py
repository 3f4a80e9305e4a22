"""Programs that start vLLM and log its lines as messages of their own; launchers that number or name them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from vllm_triage.lazy import lazy
from vllm_triage.scan.carriers.evidence import CARRIED, LEVEL, OWN, PROCESS, STAMP
from vllm_triage.scan.carriers.layer import Detector, Found, Prefix, prefix_found

_TIME = r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?"
_FIELD = rf"(?!{LEVEL}\b)[A-Za-z_<][\w.:/<>-]{{0,80}}"
_SEPARATOR = r"(?: ?[-|:] ?| )"
_RECORD = lazy(
    rf"{LEVEL}:[A-Za-z_][\w.]{{0,80}}:"
    rf"|(?:{_TIME}{_SEPARATOR}(?:{_FIELD}{_SEPARATOR})?)?"
    rf"\[?{LEVEL}\]?(?! \d\d-\d\d \d\d:)(?: *[-|:] ?| )(?:{_FIELD} [-|] )?"
)
# A record of another logger is a carrier only if what follows is vLLM's on this share of its lines.
_CARRIED = 0.05

_SRUN = lazy(r" {0,4}(?P<service>\d{1,5}): ?")
_LEARNED = lazy(
    rf"(?P<tag>[^\s{{\"][^{{\"]{{0,59}}?)(?={PROCESS} |{STAMP}|\{{\"|\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d|_bk;t=)"
)


def _logger(sample: Sequence[str]) -> Found | None:
    records = [found for line in sample if (found := _RECORD.match(line))]
    carried = sum(1 for found in records if CARRIED.match(found.string, found.end()))
    if not carried or len(records) < 0.3 * len(sample) or carried < _CARRIED * len(records):
        return None
    return prefix_found("logger", _RECORD, len(records) / len(sample))


def _srun(sample: Sequence[str]) -> Found | None:
    ranks = [found["service"] for line in sample if (found := _SRUN.match(line))]
    # Task numbers come back; line numbers don't.
    if len(ranks) < max(3, 0.15 * len(sample)) or len(set(ranks)) > len(ranks) // 2:
        return None
    return prefix_found("srun", _SRUN, len(ranks) / len(sample))


def _learned(sample: Sequence[str]) -> Found | None:
    """A prefix that nobody told us of: the same text, but for its digits, before vLLM's own lines."""
    tags = (found["tag"] for line in sample if not OWN.match(line) and (found := _LEARNED.match(line)))
    # Up to its last blank: what is glued to the line may be another carrier.
    shapes = Counter(re.sub(r"\d+", "0", tag[: tag.rfind(" ") + 1] or tag) for tag in tags)
    if not shapes:
        return None
    shape, count = shapes.most_common(1)[0]
    if shape[-1].isalnum() or shape[-1] in "[(" or shape.startswith(("[rank0]", "(")):
        return None
    pattern = lazy(re.escape(shape).replace("0", r"\d+"))
    count = sum(1 for line in sample if pattern.match(line))
    if count < max(3, 0.3 * len(sample)):
        return None
    return prefix_found("prefix", pattern, count / len(sample))


DETECTORS: tuple[Detector, ...] = (
    _logger,
    _srun,
    Prefix(
        "tag",
        lazy(
            # torchrun's has no blank
            r"\[default\d{1,3}\]:"
            rf"|\[(?!rank\d|{LEVEL}\b|pod/)[A-Za-z][\w./-]{{0,40}}\](?:: ?| |$)|std(?:err|out):(?: |$)"
        ),
        at_least=3,
    ),
)
# Only where no other carrier is known.
LAST: tuple[Detector, ...] = (_learned,)
