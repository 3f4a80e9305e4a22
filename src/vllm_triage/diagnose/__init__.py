"""Hits -> Outcome: the verdict, the root cause among the consequences, and what to say when nothing matched."""

from __future__ import annotations

from collections.abc import Sequence

from vllm_triage.diagnose.judge import Nearest, judge
from vllm_triage.model import Finding, Hit, Log, Outcome

__all__ = ["diagnose"]

# A crash loop repeats itself: so many of its starts are looked at, from the last one back.
_MAX_ATTEMPTS = 20


def diagnose(log: Log, hits: Sequence[Hit], nearest: Nearest) -> Outcome:
    """Judge the last attempt that came to an end, and mention what earlier ones failed of.

    Args:
        log: The parsed log.
        hits: All signatures that fit, in any order.
        nearest: Names the rules whose wording is nearest to a text, with the similarity (0 to 1).
    """
    outcomes = [judge(log, attempt, hits, nearest) for attempt in log.attempts[-_MAX_ATTEMPTS:]]
    ended = [outcome for outcome in outcomes if outcome.verdict != "inconclusive"]
    last = ended[-1] if ended else outcomes[-1]
    return last._replace(notices=(*last.notices, *_earlier(outcomes, last)))


def _earlier(outcomes: Sequence[Outcome], last: Outcome) -> list[Finding]:
    """The causes of the other starts that failed, in the order of their first, with a line of each start."""
    known = {finding.rule.id for finding in (*last.findings, *last.notices)}
    causes: dict[str, Finding] = {}
    for outcome in outcomes:
        if outcome is last or not outcome.findings or outcome.findings[0].rule.id in known:
            continue
        cause = outcome.findings[0]
        if same := causes.get(cause.rule.id):
            cause = same._replace(evidence=(*same.evidence, cause.evidence[0]))
        causes[cause.rule.id] = cause
    return list(causes.values())
