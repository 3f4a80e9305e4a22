"""The report as annotations of a GitHub workflow; `markdown` makes the job's summary."""

from __future__ import annotations

from vllm_triage.report.model import Report
from vllm_triage.report.words import evidence_place, place, root_message, verdict


def render(report: Report) -> str:
    """Workflow commands, one a line; text of the log can neither end one nor begin another.

    https://docs.github.com/actions/reference/workflow-commands-for-github-actions
    """
    cause, error = report.cause, report.root_error
    lines = []
    if cause:
        proof = f"{evidence_place(cause.evidence[0])}: {cause.evidence[0].text}\n" if cause.evidence else ""
        advice = cause.remedies[0].title if cause.remedies else ""
        lines.append(_command("error", f"vLLM failed: {cause.rule}", f"{cause.title}\n{proof}{advice}"))
    elif report.verdict == "failed":
        shown = (
            f"{place(error.line, error.process)}: {root_message(report)}" if error else report.missing or ""
        )
        lines.append(_command("error", "vLLM failed", f"{verdict(report)}\n{shown}"))
    else:
        lines.append(_command("notice", "vLLM", f"{verdict(report)}\n{report.missing or ''}"))
    lines += [_command("warning", f"vLLM: {notice.rule}", notice.title) for notice in report.notices[:5]]
    return "".join(f"{line}\n" for line in lines)


def _command(level: str, title: str, message: str) -> str:
    return f"::{level} title={_property(title)}::{_data(message.strip())}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
