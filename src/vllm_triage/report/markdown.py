"""The report as a Markdown document that can be shared: for an issue at vLLM's, a chat, a job summary.

Log text stands in fenced blocks alone, so that nothing in it can change the document's structure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from vllm_triage.lazy import lazy
from vllm_triage.redact import anonymise
from vllm_triage.report.model import Evidence, Remedy, Report
from vllm_triage.report.words import RETRY, actions, confidence, evidence_place, place, root_message, verdict

_SPECIAL = lazy(r"([\\`*_{}\[\]<>#!|~$@&])")
# What makes a block of a line that begins with it.
_OPENING = lazy(r"^([-+=]|\d+(?=[.)](?:\s|$)))")
_MAX_ARGS = 40
_MAX_FRAMES = 6


def render(report: Report) -> str:
    """The document; everything in it is redacted, without e-mail addresses and names of home folders."""
    parts = [*_headline(report), *_proof(report), *_remedies(report), *_setting(report), *_timeline(report)]
    parts.append(f"<sub>vllm-triage {report.tool_version}, catalog {report.catalog_version}</sub>")
    return "\n\n".join(parts) + "\n"


def _headline(report: Report) -> list[str]:
    cause = report.cause
    if cause is None:
        missing = [escaped(report.missing)] if report.missing else []
        return [f"## vLLM: {escaped(verdict(report))}", *missing]
    parts = [
        f"## vLLM failed: {escaped(cause.title)}",
        f"`{cause.rule}`, {confidence(cause)}. {RETRY[cause.retry]}",
    ]
    parts += [escaped(cause.summary)] if cause.summary else []
    return parts + [f"- {check.outcome}: {escaped(check.detail)}" for check in cause.checks]


def _proof(report: Report) -> list[str]:
    cause, error = report.cause, report.root_error
    parts = ["### Root cause in the log"] if cause or error else []
    if cause:
        parts += _quoted(cause.evidence[:3])
    elif error:
        parts += [escaped(place(error.line, error.process)), fenced(root_message(report))]
    if error and error.frames:
        frames = [f"{frame.file}:{frame.line} in {frame.function}" for frame in error.frames[-_MAX_FRAMES:]]
        parts.append(fenced("\n".join(frames)))
    for consequence in report.consequences[:3]:
        parts += [f"Follow-up `{consequence.rule}`:", *_quoted(consequence.evidence[:1])]
    return parts


def _quoted(evidence: Iterable[Evidence]) -> list[str]:
    return [part for item in evidence for part in (escaped(evidence_place(item)), fenced(item.text))]


def _remedies(report: Report) -> list[str]:
    remedies = report.cause.remedies if report.cause else ()
    return ["### What to do", *[_remedy(remedy) for remedy in remedies]] if remedies else []


def _remedy(remedy: Remedy) -> str:
    risk = "" if remedy.risk == "safe" else f" ({remedy.risk})"
    lines = [f"- **{escaped(remedy.title)}**{risk}"]
    lines += [f"  - {escaped(step)}" for step in remedy.steps]
    typed = "\n".join(actions(remedy))
    if typed:
        lines += ["", *(f"  {line}" for line in fenced(typed, "sh").split("\n"))]
    return "\n".join(lines)


def _setting(report: Report) -> list[str]:
    about = report.context
    named = {
        "vLLM": about.vllm_version,
        "engine": about.engine,
        "device": about.device,
        "model": about.model,
        "failed in": about.phase,
    }
    rows = [f"| {name} | {escaped(value)} |" for name, value in named.items() if value]
    parts = ["### Setting", "\n".join(["| | |", "|---|---|", *rows])] if rows else []
    if about.args:
        options = [
            f"--{name.replace('_', '-')} {value}" for name, value in list(about.args.items())[:_MAX_ARGS]
        ]
        parts.append(fenced("\n".join(options)))
    return parts


def _timeline(report: Report) -> list[str]:
    rows = [
        f"| {part.phase} | {part.line} | {'' if part.seconds is None else f'{part.seconds:g}'} |"
        for part in report.context.timeline
    ]
    return (
        ["### Timeline", "\n".join(["| phase | from line | seconds |", "|---|---|---|", *rows])]
        if rows
        else []
    )


def escaped(text: str) -> str:
    """Text on one line with nothing in it that Markdown, HTML or a mention would take for its own."""
    safe = _SPECIAL.sub(r"\\\1", anonymise(" ".join(text.split())))
    return _OPENING.sub(lambda match: f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}", safe)


def fenced(text: str, language: str = "") -> str:
    """A code block whose fence is longer than any run of backticks in it."""
    safe = anonymise(text)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", safe)), default=0))
    return f"{fence}{language}\n{safe}\n{fence}"
