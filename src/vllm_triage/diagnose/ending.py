"""What exit status and silence add to a log that does not explain its end."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import replace

from vllm_triage.catalog.rule import Rule, Signature
from vllm_triage.model import Ending, Finding, Hit, Log, Outcome

_POSSIBLE = 0.45
_STOPS = {signal.SIGTERM, signal.SIGINT} | ({signal.SIGHUP} if hasattr(signal, "SIGHUP") else set())
_KILL = getattr(signal, "SIGKILL", 9)


def with_ending(outcome: Outcome, log: Log, ending: Ending, rules: Mapping[str, Rule]) -> Outcome:
    """The outcome, judged once more with what is known of the process.

    The log has the first word: where it shows an error nothing changes. A server that was killed,
    was told to stop, or went silent while it started leaves no error behind.
    """
    if outcome.verdict == "failed" and (outcome.findings or outcome.root):
        return outcome
    if ending.silent_s is not None:
        return (
            _named(outcome, log, rules["startup-hang"], "silence")
            if outcome.verdict == "inconclusive"
            else outcome
        )
    if ending.signal == _KILL:
        return _named(outcome, log, rules["host-oom-killed"], "exit-status")
    if outcome.verdict == "healthy" or not ending.status:
        return outcome
    if ending.signal in _STOPS:
        return _named(outcome, log, rules["stopped-from-outside"], "exit-status")
    return replace(outcome, verdict="failed", missing=_said(ending))


def _named(outcome: Outcome, log: Log, rule: Rule, evidence: str) -> Outcome:
    """A finding that rests on no line: its evidence is the last one the process wrote."""
    last = next((line for line in reversed(list(log)) if line.text.strip()), None)
    hits = (Hit(rule, Signature(evidence), last),) if last else ()
    finding = Finding(rule, _POSSIBLE, hits, {})
    return replace(outcome, verdict="failed", findings=(finding,), root=last, missing=None)


def _said(ending: Ending) -> str:
    if ending.signal is None:
        return f"It ended with status {ending.status}, and the log shows no error: keep standard error in it (2>&1)."
    try:
        name = signal.Signals(ending.signal).name
    except ValueError:
        name = f"signal {ending.signal}"
    return f"{name} ended it, and the log does not say why: a crash in native code; PYTHONFAULTHANDLER=1 shows where."
