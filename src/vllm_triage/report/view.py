"""What a person sees of a report: at most one screen, the first remedy ready to paste."""

from __future__ import annotations

from vllm_triage.report.details import details
from vllm_triage.report.model import Diagnosis, Remedy, Report
from vllm_triage.report.rows import Row, Style, one_line, prose, quoted
from vllm_triage.report.words import (
    RETRY,
    actions,
    confidence,
    evidence_place,
    gist,
    place,
    root_message,
    verdict,
)

MAX_ROWS = 23  # of 24, with the prompt below
_READABLE = 100
_BLANK = [Row()]


def view(report: Report, width: int, bar: str, verbose: bool = False) -> list[Row]:
    """The rows of a report.

    Args:
        width: Columns there are; only commands, which must stay whole, are longer.
        bar: Drawn before lines of the log.
        verbose: Everything that is known, on any number of rows.
    """
    cause = report.cause
    if cause:
        rows = _cause(report, cause, width, bar)
    elif report.verdict == "failed":
        rows = _no_cause(report, width, bar)
    else:
        rows = _no_failure(report, width, bar)
    return rows + details(report, width, bar) if verbose else rows


def _cause(report: Report, cause: Diagnosis, width: int, bar: str) -> list[Row]:
    text_width = min(width, _READABLE)
    rows = [one_line(f"vllm-triage: failed: {cause.rule} ({confidence(cause)})", width, "headline")]
    rows += prose(cause.title, text_width, "title", most=2) + _BLANK
    if cause.evidence:
        proof = cause.evidence[0]
        rows += [
            one_line(evidence_place(proof), width, "place"),
            *quoted(proof.text, width, bar, most=3),
            *_BLANK,
        ]
    if cause.summary:
        rows += prose(cause.summary, text_width, most=3) + _BLANK
    for check in cause.checks[:1]:
        says = f"{check.outcome} it" if check.outcome != "unknown" else "does not tell"
        rows += prose(f"This machine {says}: {check.detail}", text_width, most=2) + _BLANK
    others = _other_remedies(cause.remedies[1:], width) + _other_causes(report, cause, width)
    end = [*others, *_BLANK, *_more(report, cause, width)]
    if cause.remedies:
        rows += _first_remedy(cause.remedies[0], text_width, MAX_ROWS - len(rows) - len(end))
    return rows + end


def _first_remedy(remedy: Remedy, width: int, room: int) -> list[Row]:
    risk = "" if remedy.risk == "safe" else f" ({remedy.risk})"
    head = prose(f"What to do{risk}: {remedy.title}", width, "good", most=2)
    typed = [Row(f"    {action}", "command") for action in actions(remedy)]
    steps = [row for step in remedy.steps for row in prose(step, width, indent="  ", lead="- ")]
    room -= len(head) + len(typed)
    if len(steps) > room:
        steps = [*steps[: max(room - 1, 1)], Row("  - ... (-v shows all)", "faint")]
    why = prose(remedy.why, width, "faint", indent="  ", most=2) if remedy.why else []
    return [*head, *typed, *steps, *(why if len(steps) + len(why) <= room else [])]


def _other_remedies(remedies: tuple[Remedy, ...], width: int) -> list[Row]:
    rows = []
    for remedy in remedies[:2]:
        risk = "" if remedy.risk == "safe" else f" ({remedy.risk})"
        change = gist(remedy)
        rows.append(one_line(f"Or{risk}: {remedy.title}" + (f": {change}" if change else ""), width))
    return rows


def _other_causes(report: Report, cause: Diagnosis, width: int) -> list[Row]:
    others = [other for other in report.diagnoses if other is not cause]
    return [
        one_line(f"Also {confidence(other)}: {other.rule}: {other.title}", width, "faint")
        for other in others[:1]
    ]


def _more(report: Report, cause: Diagnosis, width: int) -> list[Row]:
    starts = report.context.attempts
    again = [f"This is the last of {starts} starts in the log."] if starts > 1 else []
    if again and report.notices:
        first = report.notices[0]
        times = f" {len(first.evidence)} times" if len(first.evidence) > 1 else ""
        again = [
            f"The last of {starts} starts; before it{times} {first.rule}, line {first.evidence[0].line}."
        ]
    rows = prose(" ".join([*again, RETRY[cause.retry]]), width, "faint", most=2)
    return [*rows, Row(f"More: vllm-triage explain {cause.rule}", "faint")]


def _no_cause(report: Report, width: int, bar: str) -> list[Row]:
    text_width = min(width, _READABLE)
    rows = prose(f"vllm-triage: {verdict(report)}", width, "headline") + _BLANK
    if error := report.root_error:
        rows += [
            Row(place(error.line, error.process), "place"),
            *quoted(root_message(report), width, bar, most=6),
        ]
        for frame in error.frames[-1:]:
            rows.append(
                one_line(f"  raised at {frame.file}:{frame.line} in {frame.function}", width, "faint")
            )
        rows += _BLANK
    for refuted in report.diagnoses[:2]:
        against = next((check.detail for check in refuted.checks if check.outcome == "refutes"), "")
        rows += prose(
            f"It reads like {refuted.rule}, which this machine refutes: {against}", text_width, "title"
        )
    shown: set[int] = set()
    for consequence in report.consequences[:3]:
        for evidence in consequence.evidence[:1]:
            if evidence.line in shown:
                continue
            shown.add(evidence.line)
            rows += [Row(evidence_place(evidence), "place"), *quoted(evidence.text, width, bar, most=2)]
    if report.missing:
        rows += [*(_BLANK if report.consequences else []), *prose(report.missing, text_width, "good")]
    if report.root_error and not report.diagnoses and not report.missing:
        rows += _unknown(report, text_width)
    return rows


def _unknown(report: Report, width: int) -> list[Row]:
    rows = []
    if report.nearest:
        rows += prose(f"Rules with the nearest wording: {', '.join(report.nearest[:3])}", width, most=2)
    rows += [
        Row("Make a rule of it (one YAML file, no code):", "good"),
        Row("    vllm-triage rules new FILE", "command"),
    ]
    return rows + prose(
        "Or report it: open an issue with the lines above, and with what the cause was if you find it.",
        width,
        "faint",
    )


def _no_failure(report: Report, width: int, bar: str) -> list[Row]:
    style: Style = "good" if report.verdict == "healthy" else "title"
    count = len(report.notices)
    more = f" ({count} notice{'s' if count > 1 else ''}: -v)" if count else ""
    rows = prose(f"vllm-triage: {verdict(report)}{more}", width, style)
    if report.missing:
        rows += prose(report.missing, min(width, _READABLE))
    if error := report.root_error:
        rows += [
            Row(f"The last words: {place(error.line, error.process)}", "place"),
            *quoted(root_message(report), width, bar, most=3),
        ]
    return rows
