"""Outcome -> Report: the diagnosed facts as the public answer, every string safe to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vllm_triage import __version__
from vllm_triage.catalog.rule import Catalog, Rule
from vllm_triage.diagnose.values import values_of
from vllm_triage.model import CheckResult, ErrorBlock, Finding, Hit, Line, Log, Outcome, Probing
from vllm_triage.model import Context as LogContext
from vllm_triage.redact import redact, redact_data
from vllm_triage.report.model import (
    ChainLink,
    Check,
    Consequence,
    Context,
    Diagnosis,
    Evidence,
    Frame,
    Notice,
    PhaseTime,
    Probes,
    Report,
    RootError,
    Status,
)

LIKELY = 0.7
_EMPTY = "The log is empty: start the server with `2>&1`, so that its errors are in the log too."
_MAX_TEXT = 4_000
_MAX_FRAMES = 50
_MAX_EVIDENCE = 10


def build(outcome: Outcome, log: Log, catalog: Catalog) -> Report:
    """The report on one log. Raises nothing, whatever the log holds."""
    is_empty = not log.total_lines and outcome.verdict == "inconclusive"
    missing = _EMPTY if is_empty else outcome.missing
    return Report(
        tool_version=__version__,
        catalog_version=catalog.version,
        verdict=outcome.verdict,
        diagnoses=tuple(_diagnosis(finding, outcome.context) for finding in outcome.findings),
        notices=tuple(Notice(**_common(finding, outcome.context)) for finding in outcome.notices),
        consequences=_consequences(outcome.consequences),
        root_error=_root_error(outcome.root, outcome.chain) if outcome.root else None,
        missing=_safe(missing) if missing else None,
        context=_context(outcome.context),
        probes=_probing(outcome.probing),
        nearest=tuple(rule for rule, _ in outcome.nearest),
    )


def status_of(finding: Finding) -> Status:
    """What a confidence and the checks of a finding come to."""
    if finding.refuted:
        return "refuted"
    if finding.confirmed:
        return "confirmed"
    return "likely" if finding.confidence >= LIKELY else "possible"


def _diagnosis(finding: Finding, context: LogContext) -> Diagnosis:
    from vllm_triage.remedy import fill_remedies

    values = values_of(finding, context)
    return Diagnosis(**_common(finding, context), remedies=fill_remedies(finding.rule, values, context))


def _common(finding: Finding, context: LogContext) -> dict[str, Any]:
    rule = finding.rule
    return {
        "rule": rule.id,
        "family": rule.family,
        "title": redact(rule.title),
        "summary": _summary(rule, values_of(finding, context)),
        "confidence": round(finding.confidence, 3),
        "status": status_of(finding),
        "evidence": _evidence(finding.evidence),
        "fields": redact_data(finding.fields),
        "checks": tuple(map(_check, finding.checks)),
        "retry": rule.retry,
        "references": rule.references,
    }


def _check(result: CheckResult) -> Check:
    return Check(
        check=result.check,
        outcome=result.outcome,
        detail=redact(result.detail),
        facts=redact_data(result.facts),
    )


def _probing(probing: Probing) -> Probes:
    return Probes(
        ran=probing.ran,
        reason=probing.reason,
        problems={name: redact(reason) for name, reason in probing.problems.items()},
    )


def _summary(rule: Rule, values: Mapping[str, int | float | str]) -> str | None:
    if not rule.summary:
        return None
    from vllm_triage.remedy import MissingFieldError, fill

    # A message taken from the log ends with its own full stop.
    inside = {
        name: value.rstrip(" .:;,") if isinstance(value, str) else value for name, value in values.items()
    }
    try:
        return redact(fill(" ".join(rule.summary.split()), inside))
    except MissingFieldError:
        return None


def _evidence(hits: Sequence[Hit]) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(
            source=redact(hit.line.source),
            line=hit.line.number,
            text=_safe(hit.line.text),
            process=redact(hit.line.process),
            signature=hit.signature.id,
        )
        for hit in hits[:_MAX_EVIDENCE]
    )


def _consequences(hits: Sequence[Hit]) -> tuple[Consequence, ...]:
    by_rule: dict[str, list[Hit]] = {}
    for hit in hits:
        by_rule.setdefault(hit.rule.id, []).append(hit)
    return tuple(Consequence(rule=rule, evidence=_evidence(found)) for rule, found in by_rule.items())


def _root_error(root: ErrorBlock | Line, chain: Sequence[ErrorBlock]) -> RootError:
    if isinstance(root, Line):
        return RootError(type=None, message=_safe(root.text), process=redact(root.process), line=root.number)
    shown = root.root.text.strip()
    message = root.message if root.root is root.lines[0] else f"{root.message} {shown}".strip()
    return RootError(
        type=redact(root.type),
        message=_safe(message),
        process=redact(root.process),
        line=root.root.number,
        frames=tuple(
            Frame(file=redact(frame.file), line=frame.line, function=redact(frame.function))
            for frame in root.frames[-_MAX_FRAMES:]
        ),
        chain=tuple(
            ChainLink(
                type=redact(block.type), message=_safe(block.message), line=block.root.number, link=block.link
            )
            for block in chain[:_MAX_FRAMES]
        ),
    )


def _context(context: LogContext) -> Context:
    return Context(
        vllm_version=redact(context.vllm_version) if context.vllm_version else None,
        engine=context.engine,
        model=redact(context.model) if context.model else None,
        device=context.device,
        args=redact_data(context.args),
        memory=dict(context.memory),
        phase=context.phase,
        attempts=context.attempts,
        timeline=tuple(
            PhaseTime(phase=phase, seconds=seconds, line=line) for phase, seconds, line in context.timeline
        ),
    )


def _safe(text: str) -> str:
    """Redacted, and cut where it is longer than anyone reads.

    The first cut leaves a margin, so that a secret at the end of what is shown is seen whole.
    """
    safe = redact(text[: 4 * _MAX_TEXT]).strip()
    return safe if len(safe) <= _MAX_TEXT else f"{safe[:_MAX_TEXT]} ..."
