"""The JSON Schema for editors says the same as the loader."""

from __future__ import annotations

import jsonschema
import pytest
import yaml

from vllm_triage.catalog.schema import json_schema


def is_valid(text: str) -> bool:
    jsonschema.Draft202012Validator.check_schema(json_schema())
    return jsonschema.Draft202012Validator(json_schema()).is_valid(yaml.safe_load(text))


def test_a_good_rule_is_valid(rule_text: str) -> None:
    # YAML 1.1, as an editor may read it, takes a bare `on` for true.
    assert is_valid(rule_text.replace("    on:", "    'on':"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rank: specific", "rank: special"),
        ("since: 0.1.0\n", ""),
        ("title: No", "titel: No"),
        ("    pattern: 'No", "    phrase: x\n    pattern: 'No"),
        ("    exception: [OSError]", "    exception: OSError"),
    ],
)
def test_a_bad_one_is_not(rule_text: str, old: str, new: str) -> None:
    assert old in rule_text

    assert not is_valid(rule_text.replace("    on:", "    'on':").replace(old, new))
