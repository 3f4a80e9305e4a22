"""What a check says, and how it is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from vllm_triage.model import CheckResult
from vllm_triage.probes.facts import Facts

# The values of the rule's fields that the check was given by name; a value the log does not hold is absent.
Values = Mapping[str, Any]
Check = Callable[[Facts, Values], CheckResult]


def confirms(detail: str, **facts: Any) -> CheckResult:
    return CheckResult("", "confirms", detail, facts)


def refutes(detail: str, **facts: Any) -> CheckResult:
    return CheckResult("", "refutes", detail, facts)


def unknown(detail: str, **facts: Any) -> CheckResult:
    return CheckResult("", "unknown", detail, facts)


def number(values: Values, name: str) -> float | None:
    value = values.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        figure = float(value)
    except (ValueError, OverflowError):
        return None
    return figure if isfinite(figure) else None


def text(values: Values, name: str) -> str | None:
    value = values.get(name)
    return value.strip() if isinstance(value, str) and value.strip() else None
