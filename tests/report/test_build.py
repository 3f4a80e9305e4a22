from __future__ import annotations

import json
from collections.abc import Callable

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import FIELDS, KV_CACHE, PROOF, make_finding
from vllm_triage.catalog.rule import Rule, Signature
from vllm_triage.model import CheckResult, Context, ErrorBlock, Frame, Hit, Line
from vllm_triage.report import Report
from vllm_triage.report.build import status_of
from vllm_triage.report.schema import schema

Make = Callable[..., Report]
WRAPPER = Rule(
    "wrapper",
    "consequence",
    "t",
    "consequence",
    "any",
    "change",
    "stable",
    "0.1.0",
    (Signature(id="w", pattern="see"),),
)


def test_a_cause_is_told_with_its_proof_figures_and_remedies(failed: Report) -> None:
    cause = failed.cause

    assert cause is not None
    assert cause.rule == "kv-cache-below-max-len"
    assert cause.summary == "One request of 32768 tokens needs 4.00 GiB, and 1.20 GiB is left."
    assert cause.evidence[0].model_dump() == {
        "source": "", "line": 161, "text": PROOF, "process": "EngineCore_DP0", "signature": "v1",
    }  # fmt: skip
    assert cause.fields == FIELDS
    assert cause.remedies[0].command == "vllm serve demo-org/demo-7b --max-model-len 9776"


def test_without_its_fields_the_title_stands_alone(report_of: Make) -> None:
    cause = report_of(findings=(make_finding(max_model_len=5),)).cause

    assert cause is not None
    assert cause.summary is None


@pytest.mark.parametrize(
    "confidence, outcomes, status",
    [
        (0.95, [], "likely"),
        (0.7, [], "likely"),
        (0.69, [], "possible"),
        (0.3, ["confirms"], "confirmed"),
        (0.99, ["refutes"], "refuted"),
        (0.99, ["confirms", "refutes"], "refuted"),
        (0.99, ["unknown"], "likely"),
    ],
)
def test_the_status_follows_from_confidence_and_checks(
    confidence: float, outcomes: list[str], status: str
) -> None:
    checks = tuple(CheckResult("c", outcome, "") for outcome in outcomes)  # type: ignore[arg-type]

    assert status_of(make_finding()._replace(confidence=confidence, checks=checks)) == status


def test_a_refuted_diagnosis_is_no_cause(failed: Report) -> None:
    refuted = failed.diagnoses[0].model_copy(update={"status": "refuted"})
    other = failed.diagnoses[0].model_copy(update={"rule": "other"})

    assert failed.model_copy(update={"diagnoses": (refuted, other)}).cause == other
    assert failed.model_copy(update={"diagnoses": (refuted,)}).cause is None


def test_the_root_error_holds_the_line_that_says_most(report_of: Make) -> None:
    first = Line(4, 5, "pydantic_core.ValidationError: 1 validation error for ModelConfig")
    told = Line(5, 6, "  Value error, no such dtype [type=value_error]")
    block = ErrorBlock(
        "pydantic_core.ValidationError", "1 validation error for ModelConfig", (first, told), told,
        frames=(Frame("/x/vllm/config.py", 12, "create"),), process="APIServer", link="cause",
    )  # fmt: skip

    error = report_of(root=block, chain=[block]).root_error

    assert error is not None
    assert error.line == 6
    assert error.message == "1 validation error for ModelConfig Value error, no such dtype [type=value_error]"
    assert error.frames[0].model_dump() == {"file": "/x/vllm/config.py", "line": 12, "function": "create"}
    assert error.chain[0].link == "cause"


def test_a_root_line_that_is_no_exception_has_no_type(report_of: Make) -> None:
    error = report_of(root=Line(1, 2, "Killed")).root_error

    assert error is not None
    assert (error.type, error.message, error.line) == (None, "Killed", 2)


def test_follow_ups_are_grouped_by_rule(report_of: Make) -> None:
    hits = tuple(Hit(WRAPPER, WRAPPER.signatures[0], Line(n, n, f"see {n}")) for n in (1, 2))

    (consequence,) = report_of(consequences=hits, missing="the engine's part").consequences

    assert consequence.rule == "wrapper"
    assert [evidence.line for evidence in consequence.evidence] == [1, 2]


def test_a_very_long_line_is_cut(report_of: Make) -> None:
    cause = report_of(findings=(make_finding(text="x" * 10**6),)).cause

    assert cause is not None
    assert len(cause.evidence[0].text) < 5_000


SECRET = "hf_" + "abcdefghijklmnopqrstuvwxyz"


def test_every_string_is_safe_to_show(report_of: Make) -> None:
    dirty = f"\x1b[31m{SECRET}\u202e\ud800\x00 rest"
    line = Line(1, 2, dirty, process=dirty, source=dirty)
    block = ErrorBlock(dirty, dirty, (line,), line, frames=(Frame(dirty, 1, dirty),), process=dirty)
    rule = KV_CACHE._replace(summary="{name}", title=dirty)
    finding = make_finding(rule, dirty, name=dirty)._replace(evidence=(Hit(rule, rule.signatures[0], line),))
    context = Context(vllm_version=dirty, model=dirty, args={dirty: dirty, "api_key": "sesame"})

    text = report_of(
        findings=(finding,),
        notices=(finding,),
        consequences=finding.evidence,
        root=block,
        chain=[block],
        missing=dirty,
        context=context,
    ).model_dump_json()

    assert SECRET not in text
    assert "sesame" not in text
    assert all(string.isprintable() for string in strings(json.loads(text)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    st.text(),
    st.dictionaries(st.text(max_size=5), st.one_of(st.text(), st.floats(), st.integers(), st.none())),
)
def test_any_text_makes_valid_json(report_of: Make, text: str, fields: dict[str, int | float | str]) -> None:
    line = Line(0, 1, text)
    block = ErrorBlock(text, text, (line,), line)

    report = report_of(
        findings=(make_finding(text=text)._replace(fields={k: v for k, v in fields.items() if v is not None}),),
        root=block, chain=[block], context=Context(model=text, args=dict(fields)),
    )  # fmt: skip

    jsonschema.validate(json.loads(report.model_dump_json()), schema())
    assert Report.model_validate_json(report.model_dump_json()) == report


def strings(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in strings(part)]
    if isinstance(value, list):
        return [text for item in value for text in strings(item)]
    return [value] if isinstance(value, str) else []
