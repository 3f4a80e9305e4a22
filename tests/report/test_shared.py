"""The forms that leave the house: no text of a log changes their structure or carries a secret out."""

from __future__ import annotations

import random
import re
import shlex
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.test_redact import SECRETS
from vllm_triage import Triager
from vllm_triage.redact import anonymise
from vllm_triage.report import Report, event, github, json, jsonl, markdown, oneline, text

FORMS: dict[str, Callable[[Report], str]] = {
    "text": text.render,
    "text, everything": lambda report: text.render(report, 200, verbose=True),
    "one line": oneline.render,
    "json": json.render,
    "jsonl": jsonl.render,
    "markdown": markdown.render,
    "github": github.render,
    "event": event.render,
}
HEAD = "(APIServer pid=1) INFO 11-20 10:00:01 [api_server.py:1] vLLM API server version 0.11.0\n"
ARGS = (
    "(APIServer pid=1) INFO 11-20 10:00:02 [utils.py:233] non-default args: {{'model': '{}', 'port': 8000}}\n"
)
ERROR = "(APIServer pid=1) ERROR 11-20 10:00:09 [utils.py:1] ValueError: {}\n"
KNOWN = "ModuleNotFoundError: No module named '{}'\n"


@pytest.fixture(scope="module")
def triager() -> Triager:
    return Triager()


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_planted_anywhere_is_in_no_form(triager: Triager, kind: str) -> None:
    shape, secret = SECRETS[kind]
    line = shape.format(secret).replace("\n", " ")
    rnd = random.Random(kind)
    for _ in range(3):
        lines = [HEAD, ERROR.format("disk"), f"{line}\n", ERROR.format(line), KNOWN.format(line)]
        rnd.shuffle(lines)
        report = triager.triage("".join([HEAD, ARGS.format("demo"), *lines]))
        for name, render in FORMS.items():
            assert secret not in render(report), name


PIECES = st.one_of(
    st.sampled_from(list("\"'`$()|<>&;#*_[]{}!@:%\\~-+=")),
    st.sampled_from(
        ["::error::", "%0A", "```", "~~~", "$(id)", "`id`", "\x1b[2J", "</details>", "<!--", "| a |"]
    ),
    st.characters(codec="utf-8", exclude_characters="\n\r"),
)
POISON = st.lists(PIECES, max_size=30).map("".join)


def blocks(document: str) -> list[str]:
    return [token.type for token in MarkdownIt("commonmark").enable("table").parse(document)]


@settings(max_examples=60, deadline=None)
@given(poison=POISON)
def test_no_text_changes_the_structure_of_a_document(triager: Triager, poison: str) -> None:
    """Blocks alone: within a line a word may be code or not, a heading, a list or a table may not begin."""
    harmless = markdown.render(triager.triage(HEAD + ERROR.format("before a after")))
    document = markdown.render(triager.triage(HEAD + ERROR.format(f"before {poison} after")))

    assert blocks(document) == blocks(harmless)
    assert not any(line.startswith(("::", "%")) for line in document.split("\n"))


@settings(max_examples=60, deadline=None)
@given(poison=POISON)
def test_no_text_begins_a_workflow_command(triager: Triager, poison: str) -> None:
    annotations = github.render(triager.triage(HEAD + KNOWN.format(f"x{poison}")))

    assert annotations.endswith("\n")
    for line in annotations[:-1].split("\n"):
        assert line.startswith(("::error title=", "::warning title=", "::notice title="))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", annotations)


@settings(max_examples=60, deadline=None)
@given(poison=POISON)
def test_no_text_changes_what_a_command_means(triager: Triager, poison: str) -> None:
    args = f"{{'model': {('demo/' + poison)!r}, 'max_model_len': 32768}}"
    log = (
        f"{HEAD}(APIServer pid=1) INFO 11-20 10:00:02 [utils.py:233] non-default args: {args}\n"
        + ERROR.format(
            "To serve at least one request with the models's max seq len (32768), (4.0 GiB KV cache is needed, which is larger than the available KV cache memory (1.2 GiB). Based on the available memory, the estimated maximum model length is 9824."
        )
    )
    report = triager.triage(log)

    for remedy in report.cause.remedies if report.cause else ():
        if remedy.command:
            words = shlex.split(remedy.command)
            assert words[0] in {"vllm", "nvidia-smi"}
            assert words[1:2] == ["serve"] or words[0] == "nvidia-smi"
            assert remedy.command.isprintable()


@pytest.mark.parametrize(
    "private, shown",
    [
        ("/home/jane.doe/models/x", "~/models/x"),
        ("/Users/jane/x", "~/x"),
        (r"C:\Users\jane\x", r"~\x"),
        ("mail to jane.doe@example.org now", "mail to [redacted:e-mail] now"),
        (
            "/usr/local/lib/python3.12/dist-packages/vllm/x.py",
            "/usr/local/lib/python3.12/dist-packages/vllm/x.py",
        ),
    ],
)
def test_names_of_people_stay_at_home(private: str, shown: str) -> None:
    assert anonymise(private) == shown


def test_an_unclassified_failure_makes_a_document_too(triager: Triager) -> None:
    document = markdown.render(triager.triage(HEAD + ERROR.format("the flux capacitor is empty")))

    assert "the flux capacitor is empty" in document
    assert "0.11.0" in document


def test_a_fence_is_longer_than_what_it_holds() -> None:
    assert markdown.fenced("a ```` b").startswith("`````\n")
