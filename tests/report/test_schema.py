from __future__ import annotations

import json

import jsonschema

from vllm_triage.report import Report
from vllm_triage.report.schema import PATH, schema

CONTRACT = {
    "Report": "schema_version tool_version catalog_version verdict provisional diagnoses notices consequences root_error missing context probes",
    "Diagnosis": "rule family title summary confidence status evidence fields checks remedies retry references",
    "Notice": "rule family title summary confidence status evidence fields checks retry references",
    "Evidence": "source line text process signature",
    "Check": "check outcome detail facts",
    "Remedy": "title why risk command steps set_args unset_args set_env unset_env",
    "Consequence": "rule evidence",
    "RootError": "type message process line frames chain",
    "Frame": "file line function",
    "Context": "vllm_version engine model device args memory phase attempts timeline",
    "Probes": "ran reason problems",
    "PhaseTime": "phase seconds line",
}


def test_the_shipped_schema_is_up_to_date() -> None:
    assert json.loads(PATH.read_text(encoding="utf-8")) == schema(), "run: make schema"


def test_the_keys_are_those_of_the_contract() -> None:
    parts = {**schema()["$defs"], "Report": schema()}

    assert {name: set(parts[name]["properties"]) for name in CONTRACT} == {
        name: set(keys.split()) for name, keys in CONTRACT.items()
    }


def test_the_keys_of_a_report_come_in_the_order_of_the_contract(failed: Report) -> None:
    assert list(json.loads(failed.model_dump_json())) == CONTRACT["Report"].split()


def test_a_report_fits_its_schema(failed: Report) -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(json.loads(failed.model_dump_json()), schema())
