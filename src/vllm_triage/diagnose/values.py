"""What templates and checks may use: the rule's fields, figures of the host, and names that every rule has."""

from __future__ import annotations

from vllm_triage.model import Context, Finding


def values_of(finding: Finding, context: Context) -> dict[str, int | float | str]:
    """The values of a finding by name; those the log does not hold are absent."""
    first = finding.evidence[0].line if finding.evidence else None
    common = {
        "model": context.model,
        "vllm_version": context.vllm_version,
        "host": context.args.get("host"),
        "port": context.args.get("port"),
        "process": first.process if first else None,
        "pid": first.pid if first else None,
    }
    told = {name: value for check in finding.checks for name, value in check.facts.items()}
    known = {name: value for name, value in {**told, **common}.items() if _is_scalar(value) and value != ""}
    return known | finding.fields


def _is_scalar(value: object) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)
