"""What exit status and silence add to a log that does not explain its end."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import Literal

from vllm_triage.catalog.rule import Rule, Signature
from vllm_triage.model import CheckResult, Ending, Finding, Hit, Line, Log, Outcome

_KILLED_FOR_MEMORY, _STOPPED, _DIED = "host-oom-killed", "stopped-from-outside", "worker-died"
_HANG = "startup-hang"
_REQUESTS = {signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGTERM)}
# What a log says of a process that was killed for memory: that it is gone.
_SILENT = {_DIED, "engine-dead", "ray-worker-died", _KILLED_FOR_MEMORY}
_SIGNATURE = Signature(id="exit-status")
_LIKELY, _POSSIBLE, _REFUTED = 0.8, 0.5, 0.1


def with_ending(outcome: Outcome, log: Log, ending: Ending, rules: Mapping[str, Rule]) -> Outcome:
    """The outcome, judged once more with what is known of the process.

    The log has the first word: a cause that it names stays. What rests on no line has the last one as
    its evidence, and a check that says what was seen of the process.
    """
    last = next((line for line in reversed(list(log)) if line.text.strip()), None)
    if ending.silent_s is not None:
        silence = CheckResult("silence", "unknown", f"nothing has been written for {ending.silent_s:.0f} s")
        found = _finding(rules[_HANG], last, _POSSIBLE, silence)
        return (
            _failed(outcome, found) if outcome.verdict == "inconclusive" and log.looks_like_vllm else outcome
        )
    if ending.status is None:
        return outcome
    cause = next((finding for finding in outcome.findings if not finding.refuted), None)
    silent = cause.rule.id in _SILENT if cause else outcome.root is None
    if ending.oom_kills and silent and (outcome.verdict == "failed" or ending.status):
        return _failed(
            outcome,
            _finding(
                rules[_KILLED_FOR_MEMORY],
                last,
                _LIKELY,
                _seen(ending, f"{ending.oom_kills} killed for memory were counted while it ran"),
            ),
        )
    if outcome.verdict == "failed" or (outcome.verdict == "healthy" and _was_orderly(ending, log)):
        return outcome
    if (ending.told and outcome.verdict == "inconclusive") or ending.signal in _REQUESTS:
        return _failed(outcome, _finding(rules[_STOPPED], last, _LIKELY, _seen(ending)))
    if ending.signal == getattr(signal, "SIGKILL", 9):
        return _failed(outcome, *_killed(ending, last, rules))
    if ending.signal is not None:
        return _failed(outcome, _finding(rules[_DIED], last, _LIKELY, _seen(ending)))
    if ending.status == 0:
        return outcome
    return outcome._replace(
        verdict="failed",
        missing=f"The process ended with status {ending.status} and its log shows no error: look for its standard "
        "error, and for what the machine's or the container's own log says of that moment.",
    )


def _was_orderly(ending: Ending, log: Log) -> bool:
    if ending.told or ending.status == 0 or ending.signal in _REQUESTS:
        return True
    return ending.signal is None and bool(log.attempts) and log.attempts[-1].shutdown is not None


def _killed(ending: Ending, last: Line | None, rules: Mapping[str, Rule]) -> list[Finding]:
    """SIGKILL, and no kill for memory counted: it came from somebody, if anything counts them here."""
    if ending.oom_kills is None:
        return [
            _finding(
                rules[_KILLED_FOR_MEMORY],
                last,
                _POSSIBLE,
                _check(ending, "unknown", "nothing here counts kills for memory"),
            )
        ]
    nobody = "no kill for memory was counted while it ran"
    return [
        _finding(rules[_STOPPED], last, _LIKELY, _seen(ending, nobody)),
        _finding(rules[_KILLED_FOR_MEMORY], last, _REFUTED, _check(ending, "refutes", nobody)),
    ]


def _failed(outcome: Outcome, *findings: Finding) -> Outcome:
    named = {finding.rule.id for finding in findings}
    others = tuple(finding for finding in outcome.findings if finding.rule.id not in named)
    return outcome._replace(verdict="failed", findings=(*findings, *others), missing=None)


def _finding(rule: Rule, last: Line | None, confidence: float, check: CheckResult) -> Finding:
    evidence = (Hit(rule, _SIGNATURE, last),) if last else ()
    return Finding(rule, confidence, evidence, {}, (check,))


def _seen(ending: Ending, more: str = "its log says nothing of it") -> CheckResult:
    return _check(ending, "confirms", more)


def _check(ending: Ending, outcome: Literal["confirms", "refutes", "unknown"], more: str) -> CheckResult:
    facts = {"status": ending.status, "signal": ending.signal, "oom_kills": ending.oom_kills}
    return CheckResult("exit-status", outcome, f"{_told(ending)}, and {more}", facts)


def _told(ending: Ending) -> str:
    if ending.signal is None:
        return f"the process ended with status {ending.status}"
    try:
        return f"the process was ended by {signal.Signals(ending.signal).name}"
    except ValueError:
        return f"the process was ended by signal {ending.signal}"
