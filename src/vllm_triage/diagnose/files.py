"""Several files of one failure, one a rank, node or container: which of them holds the root cause."""

from __future__ import annotations

from collections.abc import Sequence

from vllm_triage.model import ErrorBlock, Line, Log, Outcome

_VERDICTS = {"failed": 0, "inconclusive": 1, "healthy": 2}


def first_failure(judged: Sequence[tuple[Outcome, Log]]) -> tuple[Outcome, Log]:
    """The file that failed first, as far as the stamps tell, with the consequences seen in the others.

    A file that shows an error wins over one that only refers to another's, and a file that failed
    over one that did not.
    """
    ordered = sorted(judged, key=lambda pair: (_VERDICTS[pair[0].verdict], _vagueness(pair[0]), _time(*pair)))
    outcome, log = ordered[0]
    others = [hit for other, _ in ordered[1:] for hit in other.consequences]
    known = {finding.rule.id for finding in outcome.findings}
    also = [
        finding._replace(confidence=finding.confidence / 2)
        for other, _ in ordered[1:]
        for finding in other.findings[:1]
        if finding.rule.id not in known
    ]
    merged = outcome._replace(
        findings=(*outcome.findings, *also) if outcome.findings else (),
        consequences=(*outcome.consequences, *others),
    )
    return merged, log


def _vagueness(outcome: Outcome) -> int:
    """0 for a cause in words, 1 for a fallback or an unexplained error, 2 for consequences only."""
    if outcome.findings:
        return 0 if outcome.findings[0].rule.rank in {"specific", "generic"} else 1
    return 1 if outcome.root is not None else 2


def _time(outcome: Outcome, log: Log) -> tuple[bool, str]:
    """The stamp of the root line, or of the last stamped line before it."""
    if outcome.root is None:
        return True, ""
    root: Line = outcome.root.root if isinstance(outcome.root, ErrorBlock) else outcome.root
    stamp = next((line.stamp for line in reversed(list(log)) if line.stamp and line.index <= root.index), "")
    return not stamp, stamp
