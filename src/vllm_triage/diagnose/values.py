"""What templates and checks may use: the rule's fields, and names that are the same for every rule."""

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
    return {
        name: value for name, value in common.items() if isinstance(value, (str, int)) and value != ""
    } | finding.fields
