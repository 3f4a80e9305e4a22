from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.builders import KV_CACHE, PROOF, make_finding
from vllm_triage.catalog.rule import RemedySpec, Rule, Signature
from vllm_triage.model import Context, ErrorBlock, Frame, Hit, Line
from vllm_triage.report import Report
from vllm_triage.report.text import render

Make = Callable[..., Report]

CAUSE = """\
vllm-triage: failed: kv-cache-below-max-len (very likely)
The KV cache cannot hold one request of the maximum length

line 161, EngineCore_DP0
  | ValueError: To serve at least one request with the model's max seq len
  | (32768), 4.00 GiB KV cache is needed

One request of 32768 tokens needs 4.00 GiB, and 1.20 GiB is left.

What to do: Lower --max-model-len to what fits
    vllm serve demo-org/demo-7b --max-model-len 9776
  9776 is 32768 * (1.2 - 0.005) / (4.0 + 0.005), down to whole blocks of 16
  tokens.
Or: Quantize the KV cache: --kv-cache-dtype fp8
Or: See what else holds the GPU: nvidia-smi --format=csv

Starting again unchanged will not help.
More: vllm-triage explain kv-cache-below-max-len
"""


def test_a_cause_reads_from_headline_to_remedy(failed: Report) -> None:
    assert render(failed) == CAUSE


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_one_cause_takes_one_screen_however_much_there_is_to_say(report_of: Make, width: int) -> None:
    words = "a sentence that goes on and on for quite a while " * 8
    rule = KV_CACHE._replace(
        title=words,
        summary=words,
        remedies=tuple(
            RemedySpec(words, "disruptive", why=words, command=("run", words), steps=(words,) * 9)
            for _ in range(6)
        ),
    )
    report = report_of(
        findings=(make_finding(rule, words * 9), make_finding(rule), make_finding(rule)),
        notices=(make_finding(),),
        context=Context(attempts=3),
    )

    lines = render(report, width).splitlines()

    assert len(lines) <= 25
    assert all(len(line) <= width for line in lines if not line.startswith("    "))
    assert lines[-1] == "More: vllm-triage explain kv-cache-below-max-len"


@pytest.mark.parametrize("width, columns", [(10, 60), (500, 200)])
def test_the_width_has_limits(failed: Report, width: int, columns: int) -> None:
    assert render(failed, width) == render(failed, columns)


def test_a_command_is_never_wrapped(report_of: Make) -> None:
    args = {"model": "m", **{f"some_quite_long_option_{n}": n for n in range(20)}}

    text = render(report_of(findings=(make_finding(),), context=Context(model="m", args=args)), 60)

    (command,) = [line for line in text.splitlines() if line.startswith("    vllm serve")]
    assert command.endswith("--max-model-len 9776")


def test_a_remedy_without_a_known_command_says_what_to_set(report_of: Make) -> None:
    assert "    vllm serve ... --max-model-len 9776\n" in render(report_of(findings=(make_finding(),)))


def test_a_risk_is_said(report_of: Make) -> None:
    rule = KV_CACHE._replace(remedies=(RemedySpec("Kill it", "disruptive", command=("kill", "1")),))

    assert "What to do (disruptive): Kill it" in render(report_of(findings=(make_finding(rule),)))


@pytest.mark.parametrize("confidence, word", [(0.95, "very likely"), (0.8, "likely"), (0.5, "possible")])
def test_confidence_is_put_in_words(report_of: Make, confidence: float, word: str) -> None:
    assert f"kv-cache-below-max-len ({word})" in render(
        report_of(findings=(make_finding(confidence=confidence),))
    )


def test_an_unknown_error_is_shown_with_ways_on(report_of: Make) -> None:
    line = Line(9, 10, "RuntimeError: something new", process="EngineCore")
    block = ErrorBlock(
        "RuntimeError",
        "something new",
        (line,),
        line,
        frames=(Frame("/x/vllm/a.py", 3, "load"),),
        process="EngineCore",
    )

    text = render(report_of(root=block, nearest=(("port-in-use", 0.6), ("cuda-oom", 0.5))))

    assert text.startswith(
        "vllm-triage: failed, and no rule knows the error\n\nline 10, EngineCore\n  | RuntimeError: something new\n"
    )
    assert "raised at /x/vllm/a.py:3 in load" in text
    assert "Rules with the nearest wording: port-in-use, cuda-oom" in text
    assert "vllm-triage rules new FILE" in text
    assert "report it" in text


def test_only_consequences_say_what_is_missing(report_of: Make) -> None:
    rule = Rule(
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
    hit = Hit(rule, rule.signatures[0], Line(6, 7, "See root cause above."))

    text = render(report_of(consequences=(hit,), missing="The workers' lines are not there."))

    assert text.startswith("vllm-triage: failed, and the part of the log that holds the cause is missing\n")
    assert "line 7\n  | See root cause above.\n" in text
    assert "The workers' lines are not there." in text
    assert "rules new" not in text


def test_a_healthy_log_takes_one_line(report_of: Make) -> None:
    assert render(report_of("healthy")) == "vllm-triage: healthy: it became ready and nothing fatal follows\n"


def test_what_was_not_fatal_is_told_on_demand(report_of: Make) -> None:
    report = report_of("healthy", notices=(make_finding(),))

    assert "(1 notice: -v)" in render(report)
    assert "Not fatal: kv-cache-below-max-len" in render(report, verbose=True)


def test_inconclusive_says_what_it_looks_like_and_what_is_missing(report_of: Make) -> None:
    text = render(
        report_of(
            "inconclusive", missing="This does not look like a vLLM log.", context=Context(phase="weights")
        )
    )

    assert (
        "inconclusive: no failure and no server that became ready, the last phase seen is weights"
        in " ".join(text.split("\n"))
    )
    assert "This does not look like a vLLM log." in text


def test_verbose_tells_everything(report_of: Make) -> None:
    line = Line(9, 10, PROOF)
    block = ErrorBlock("ValueError", PROOF, (line,), line, frames=(Frame("/x/vllm/a.py", 3, "load"),))
    context = Context(
        vllm_version="0.11.0", model="demo", args={"max_model_len": 5}, timeline=(("weights", 3.0, 40),)
    )

    text = render(
        report_of(findings=(make_finding(),), root=block, chain=[block], context=context), verbose=True
    )

    for part in (
        "signature v1",
        "available_gib=1.2",
        "https://docs.vllm.ai",
        "/x/vllm/a.py:3 in load",
        "vLLM: 0.11.0",
        "weights from line 40, 3 s",
        "--max-model-len 5",
    ):
        assert part in text
