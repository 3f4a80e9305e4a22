from __future__ import annotations

import pytest

from vllm_triage.catalog.templates import TemplateError
from vllm_triage.remedy import MissingFieldError, fill

VALUES = {"tokens": 8192, "gib": 1.234, "name": "demo {tokens}"}


@pytest.mark.parametrize(
    "template, text",
    [
        ("no field", "no field"),
        ("{tokens} tokens", "8192 tokens"),
        ("{gib:.1f} GiB", "1.2 GiB"),
        ("{tokens:,}", "8,192"),
        ('{{"a": {tokens}}}', '{"a": 8192}'),
        ("{name}", "demo {tokens}"),
    ],
)
def test_names_are_replaced(template: str, text: str) -> None:
    assert fill(template, VALUES) == text


@pytest.mark.parametrize("template", ["{absent}", "{name:.1f}"])
def test_a_value_that_is_missing_or_no_number_is_told(template: str) -> None:
    with pytest.raises(MissingFieldError):
        fill(template, VALUES)


@pytest.mark.parametrize(
    "template",
    [
        "{name.__class__}",
        "{name[0]}",
        "{name!r}",
        "{}",
        "{0}",
        "{tokens:999999999d}",
        "{tokens:{gib}}",
        "{open",
        "1 + {tokens + 1}",
    ],
)
def test_anything_but_names_is_refused(template: str) -> None:
    with pytest.raises(TemplateError):
        fill(template, VALUES)
