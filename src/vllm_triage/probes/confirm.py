"""Outcome x Facts -> Outcome: each finding with what the machine says about it, ranked once more."""

from __future__ import annotations

from vllm_triage.diagnose.rank import settle
from vllm_triage.diagnose.values import values_of
from vllm_triage.model import Context, Finding, Outcome, Probing
from vllm_triage.probes.checks import run
from vllm_triage.probes.facts import Facts


def confirm(outcome: Outcome, facts: Facts) -> Outcome:
    """Run the checks of every finding's rule."""
    return outcome._replace(
        findings=settle([_checked(finding, facts, outcome.context) for finding in outcome.findings]),
        probing=Probing(ran=True, problems=facts.problems),
    )


def _checked(finding: Finding, facts: Facts, context: Context) -> Finding:
    values = {**context.args, **values_of(finding, context)}
    answers = (run(check, facts, values) for check in finding.rule.confirm)
    return finding._replace(checks=(*finding.checks, *answers))
