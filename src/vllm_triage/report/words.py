"""How the renderings for people put things: confidence, places, settings, the sentence for a verdict."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from vllm_triage.report.model import Diagnosis, Evidence, Notice, Remedy, Report

RETRY = {
    "change": "Starting again unchanged will not help.",
    "retry": "Starting again may help.",
    "hardware": "This needs another machine, or hands at this one.",
    "unknown": "",
}
_CERTAIN = 0.9


def confidence(diagnosis: Diagnosis | Notice) -> str:
    if diagnosis.status == "confirmed":
        return "confirmed on this machine"
    if diagnosis.status == "refuted":
        return "refuted on this machine"
    if diagnosis.status == "likely":
        return "very likely" if diagnosis.confidence >= _CERTAIN else "likely"
    return "possible"


def place(line: int, process: str, source: str = "") -> str:
    """Where a line stands: `crash.log:161, EngineCore_DP0`."""
    where = f"{source}:{line}" if source else f"line {line}"
    return f"{where}, {process}" if process else where


def evidence_place(evidence: Evidence) -> str:
    return place(evidence.line, evidence.process, evidence.source)


def actions(remedy: Remedy) -> list[str]:
    """What to type, one line each; empty where a remedy is steps alone."""
    if remedy.command:
        return [remedy.command]
    lines = [f"export {name}={shlex.quote(value)}" for name, value in remedy.set_env.items()]
    lines += [f"unset {name}" for name in remedy.unset_env]
    if remedy.set_args:
        lines.append(f"vllm serve ... {' '.join(_options(remedy))}")
    if remedy.unset_args:
        lines.append(f"vllm serve ... without {_without(remedy)}")
    return lines


def changes(remedy: Remedy, args: Mapping[str, object]) -> list[str]:
    """What a remedy changes, as a diff against the options that the server was started with."""
    given = {name.replace("_", "-"): value for name, value in args.items()}
    rows = []
    for name, value in remedy.set_args.items():
        rows += [f"- --{name} {given[name]}"] if name in given else []
        rows.append(f"+ {_option(name, value)}")
    rows += [f"- --{name} {given.get(name, '')}".rstrip() for name in remedy.unset_args]
    rows += [f"+ {name}={shlex.quote(value)}" for name, value in remedy.set_env.items()]
    return rows + [f"- {name}" for name in remedy.unset_env]


def gist(remedy: Remedy) -> str:
    """What a remedy changes, without the rest of the command line; its command where it changes nothing."""
    parts = [f"{name}={shlex.quote(value)}" for name, value in remedy.set_env.items()]
    parts += [f"unset {name}" for name in remedy.unset_env]
    parts += _options(remedy)
    if remedy.unset_args:
        parts.append(f"without {_without(remedy)}")
    return ", ".join(parts) or remedy.command or ""


def _options(remedy: Remedy) -> list[str]:
    return [_option(name, value) for name, value in remedy.set_args.items()]


def _without(remedy: Remedy) -> str:
    return ", ".join(f"--{name}" for name in remedy.unset_args)


def _option(name: str, value: str | int | float | bool) -> str:
    if isinstance(value, bool):
        return f"--{name}" if value else f"--no-{name}"
    return f"--{name} {shlex.quote(str(value))}"


def verdict(report: Report) -> str:
    """One sentence on a report that names no cause."""
    if report.verdict == "healthy":
        return "healthy: it became ready and nothing fatal follows"
    if report.verdict == "inconclusive":
        phase = f", the last phase seen is {report.context.phase}" if report.context.phase else ""
        return f"inconclusive: no failure and no server that became ready{phase}"
    if report.diagnoses:
        return "failed, and this machine refutes what the error looks like"
    if report.missing or report.root_error is None:
        return "failed, and the part of the log that holds the cause is missing"
    return "failed, and no rule knows the error"


def root_message(report: Report) -> str:
    """The root error as its log prints it."""
    error = report.root_error
    if error is None:
        return ""
    return ": ".join(part for part in (error.type, error.message) if part)
