"""What -v adds to the view: everything the report holds."""

from __future__ import annotations

from collections.abc import Iterable

from vllm_triage.report.model import Diagnosis, Evidence, Notice, Remedy, Report
from vllm_triage.report.rows import Row, prose, quoted
from vllm_triage.report.words import actions, changes, confidence, evidence_place


def details(report: Report, width: int, bar: str) -> list[Row]:
    rows: list[Row] = []
    for diagnosis in report.diagnoses:
        rows += _finding("Cause", diagnosis, width, bar)
        for number, remedy in enumerate(diagnosis.remedies, 1):
            rows += _remedy(number, remedy, width, report)
    for notice in report.notices:
        rows += _finding("Not fatal", notice, width, bar)
    for consequence in report.consequences:
        rows += [
            Row(),
            Row(f"Follow-up: {consequence.rule}", "title"),
            *_evidence(consequence.evidence, width, bar),
        ]
    return rows + _root(report, width, bar) + _context(report, width)


def _finding(label: str, finding: Diagnosis | Notice, width: int, bar: str) -> list[Row]:
    rows = [
        Row(),
        *prose(
            f"{label}: {finding.rule} ({confidence(finding)}, {finding.confidence:.2f}): {finding.title}",
            width,
            "title",
        ),
    ]
    rows += prose(finding.summary, width) if finding.summary else []
    rows += _evidence(finding.evidence, width, bar)
    if finding.fields:
        rows += prose(
            ", ".join(f"{name}={value}" for name, value in finding.fields.items()), width, lead="fields: "
        )
    for check in finding.checks:
        rows += prose(f"{check.check} {check.outcome}: {check.detail}", width, lead="check: ")
    return rows + [Row(f"see {reference}", "faint") for reference in finding.references]


def _remedy(number: int, remedy: Remedy, width: int, report: Report) -> list[Row]:
    rows = prose(f"{remedy.title} ({remedy.risk})", width, "good", lead=f"{number}. ")
    rows += [Row(f"   {change}", "faint") for change in changes(remedy, report.context.args)]
    rows += [Row(f"    {action}", "command") for action in actions(remedy)]
    rows += [row for step in remedy.steps for row in prose(step, width, indent="   ", lead="- ")]
    return rows + (prose(remedy.why, width, "faint", indent="   ") if remedy.why else [])


def _evidence(evidence: Iterable[Evidence], width: int, bar: str) -> list[Row]:
    rows = []
    for item in evidence:
        rows.append(Row(f"{evidence_place(item)}, signature {item.signature}", "place"))
        rows += quoted(item.text, width, bar, most=20)
    return rows


def _root(report: Report, width: int, bar: str) -> list[Row]:
    error = report.root_error
    if error is None:
        return []
    rows = [Row(), Row("Root error", "title")]
    for link in error.chain:
        rows += quoted(f"line {link.line}: {link.type}: {link.message}", width, bar, most=4)
    for frame in error.frames:
        rows += prose(f"{frame.file}:{frame.line} in {frame.function}", width, "faint", indent="  ")
    return rows


def _context(report: Report, width: int) -> list[Row]:
    about = report.context
    named = {"vLLM": about.vllm_version, "engine": about.engine, "model": about.model, "phase": about.phase}
    rows = [Row(), Row("Context", "title")]
    rows += [Row(f"  {name}: {value}") for name, value in named.items() if value]
    for name, value in about.args.items():
        rows += prose(f"--{name.replace('_', '-')} {value}", width, "faint", indent="  ", most=3)
    for part in about.timeline:
        took = f", {part.seconds:g} s" if part.seconds is not None else ""
        rows.append(Row(f"  {part.phase} from line {part.line}{took}", "faint"))
    asked = report.probes
    rows += prose(
        f"machine: {'asked' if asked.ran else f'not asked: {asked.reason}'}", width, "faint", indent="  "
    )
    for name, reason in asked.problems.items():
        rows += prose(f"{name}: {reason}", width, "faint", indent="    ")
    rows.append(Row(f"  vllm-triage {report.tool_version}, catalog {report.catalog_version}", "faint"))
    return rows
