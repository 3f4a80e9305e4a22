"""Signatures judged on lines: words, conditions, places, phrases."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vllm_triage.catalog.rule import Catalog, Example, Rule, Signature
from vllm_triage.log import parse
from vllm_triage.match import Matcher
from vllm_triage.match.conditions import frame_fits
from vllm_triage.match.text import MAX_TEXT, normalise, window
from vllm_triage.model import Frame, Hit

Find = Callable[..., list[Hit]]

TRACEBACK = """\
Traceback (most recent call last):
  File "/venv/lib/python3.12/site-packages/vllm/v1/worker/gpu_worker.py", line 9, in load_model
  File "/venv/lib/python3.12/site-packages/vllm/v1/core/kv_cache_utils.py", line 9, in check_enough
ValueError: out of room at 7 GiB
"""


def find(text: str, **signature: object) -> list[Hit]:
    """The hits of a catalog of one signature."""
    sig = Signature(id="v1", **signature)  # type: ignore[arg-type]
    rule = Rule("demo", "test", "Demo", "specific", "any", "change", "stable", "0.1.0", (sig,))
    lines = list(enumerate(text.split("\n"), start=1))
    return Matcher(Catalog({"demo": rule}, "test")).hits(parse([lines], len(lines)))


WORDS = {"pattern": r"out of room at (?P<gib>\d+) GiB", "literals": ("out of room at ",)}


def test_named_groups_become_fields() -> None:
    (hit,) = find(TRACEBACK, **WORDS)

    assert hit.fields == {"gib": "7"}
    assert hit.line.number == 4
    assert hit.block is not None


@pytest.mark.parametrize(
    "text", ["OUT OF ROOM AT 7 GiB", "out  of\troom at 7 GiB", "x out of room at 7 GiB y"]
)
def test_capitals_and_blanks_do_not_count(text: str) -> None:
    assert len(find(text, **WORDS)) == 1


@pytest.mark.parametrize(
    ("condition", "fits"),
    [
        ({"exception": ("ValueError",)}, True),
        ({"exception": ("*Error",)}, True),
        ({"exception": ("OSError",)}, False),
        ({"frames": ("v1/worker/gpu_worker.py:load_*",)}, True),
        ({"frames": ("v1/worker/gpu_worker.py:profile_run",)}, False),
        ({"frames": ("kv_cache_utils.py",)}, True),
        ({"not_frames": ("kv_cache_utils.py",)}, False),
        ({"phases": ("weights", "kv-cache")}, True),
        ({"phases": ("serving",)}, False),
        ({"on": ("warning",)}, False),
    ],
)
def test_conditions_are_asked_of_the_traceback_that_holds_the_line(
    condition: dict[str, object], fits: bool
) -> None:
    assert bool(find(TRACEBACK, **WORDS, **condition)) is fits


def test_a_place_speaks_only_where_vllm_itself_raised() -> None:
    place = {"raised_in": ("v1/core/kv_cache_utils.py:check_*",)}
    below = TRACEBACK.replace("ValueError", '  File "/venv/torch/nn.py", line 1, in forward\nValueError')

    assert len(find(TRACEBACK, **place)) == 1
    assert find(below, **place) == []


def test_an_error_of_an_operator_is_not_vllms_own() -> None:
    place = {"raised_in": ("v1/core/kv_cache_utils.py:check_*",)}
    source = "    torch.ops.demo.reshape(x)\n"
    called = TRACEBACK.replace("ValueError", f"{source}RuntimeError")

    assert find(called, **place) == []
    assert len(find(called.replace(source, "    raise RuntimeError(\n"), **place)) == 1
    assert len(find(called.replace("RuntimeError", "ValueError"), **place)) == 1
    assert find(called.replace("RuntimeError", "TypeError"), **place) == []


def test_a_phrase_finds_a_wording_that_drifted() -> None:
    phrase = "the model's maximum length is larger than the tokens that fit into the KV cache"

    near = "ValueError: the model's maximum length (32768) is greater than the tokens that fit into the KV cache (9824)"
    far = "ValueError: the tokenizer's vocabulary is larger than the embedding of the model"

    assert len(find(near, phrase=phrase)) == 1
    assert find(far, phrase=phrase) == []


def test_a_hostile_line_is_given_up_in_time() -> None:
    assert find("x" + "a" * 5000 + "!", pattern=r"x(a|aa)+$", literals=("xaa",)) == []


def test_the_window_of_a_long_line_holds_the_literal() -> None:
    text = "a" * 50_000 + " NEEDLE " + "b" * 50_000

    cut = window(text, ("needle",))

    assert len(cut) <= MAX_TEXT
    assert "NEEDLE" in cut


def test_the_pieces_of_a_message_in_several_arguments_are_put_together() -> None:
    assert (
        normalise("RuntimeError: ('out of ', \"room. \", 'At 7 GiB')")
        == "RuntimeError: ('out of room. At 7 GiB')"
    )
    assert normalise("ValueError: not one of ['a', 'b']") == "ValueError: not one of ['a', 'b']"


def test_a_message_is_read_over_the_end_of_its_line() -> None:
    wrapped = "ValueError: there is no place, we are out of\n    room at 7 GiB\nINFO: out of"

    (hit,) = find(wrapped, **WORDS)

    assert (hit.line.number, hit.fields) == (1, {"gib": "7"})
    assert find(wrapped, **WORDS, exception=("OSError",)) == []
    assert find("INFO: we are out of\nroom at 7 GiB", **WORDS) == []


def test_normalising_straightens_quotes_and_squeezes_blanks() -> None:
    assert normalise("  can’t  find\t“x” ") == 'can\'t find "x"'


@pytest.mark.parametrize(
    ("told", "english"),
    [
        ("段错误 (核心已转储)", "Segmentation fault (核心已转储)"),
        ("Getötet", "Killed"),
        (
            "./serve.sh: 行 12:    42 已杀死      vllm serve demo",
            "./serve.sh: line 12: 42 Killed vllm serve demo",
        ),
        ("程序已杀死进程", "程序已杀死进程"),
        ("Getötete Prozesse: 3", "Getötete Prozesse: 3"),
    ],
)
def test_a_shell_s_last_words_are_read_in_its_language(told: str, english: str) -> None:
    assert normalise(told) == english


@pytest.mark.parametrize(
    ("glob", "fits"),
    [
        ("vllm/config.py:verify", True),
        ("config.py", True),
        ("*vllm/*:*", True),
        ("vllm/*:ver*", True),
        ("my_config.py", False),
        ("vllm/config.py:check", False),
    ],
)
def test_a_glob_is_matched_against_the_end_of_the_path(glob: str, fits: bool) -> None:
    assert frame_fits(Frame("/venv/site-packages/vllm/config.py", 1, "verify"), [glob]) is fits


def test_a_record_above_its_own_traceback_shows_the_exception() -> None:
    stamp = "ERROR 11-20 10:00:00 [__init__.py:46] "
    text = "\n".join(
        stamp + line
        for line in [
            "Failed to load plugin demo",
            "Traceback (most recent call last):",
            "ImportError: no demo here",
        ]
    )

    (hit,) = find(text, pattern="Failed to load plugin", literals=("failed to load plugin",))

    assert hit.line.number == 3


def test_the_clause_of_an_example_is_found_after_a_rewording() -> None:
    drifted = "ValueError: the number of heads (28) has to be divisible by the tensor parallel degree (8)"
    wording = "the number of heads (28) must be divisible by the tensor parallel degree (8)"

    (hit,) = find(
        drifted,
        pattern="must be divisible by the tensor",
        literals=("must be divisible",),
        wordings=(wording,),
    )

    assert 0.8 < hit.similarity < 1


def test_a_near_miss_is_no_rewording() -> None:
    signature = Signature("v1", pattern="must be divisible by", literals=("must be divisible",), wordings=(
        "the number of heads must be divisible by the tensor parallel degree",))  # fmt: skip
    near = "ValueError: the number of layers has to be divisible by the tensor parallel degree"
    rule = Rule(
        "demo", "test", "Demo", "specific", "any", "change", "stable", "0.1.0", (signature,),
        examples=(Example(near, matches=False),),
    )  # fmt: skip

    assert Matcher(Catalog({"demo": rule}, "test")).hits(parse([[(1, near)]], 1)) == []


def test_the_hits_of_one_start_do_not_use_up_those_of_the_next() -> None:
    banner = "INFO 11-20 10:00:00 [api_server.py:1] vLLM API server version 0.11.0"
    storm = "\n".join(
        [banner, *["ValueError: out of room at 7 GiB"] * 500, banner, "ValueError: out of room at 8 GiB"]
    )

    hits = find(storm, **WORDS)

    assert hits[-1].fields == {"gib": "8"}
    assert len(hits) < 500


def test_the_same_words_about_another_variable_are_no_rewording() -> None:
    phrase = "max_model_len must be less than or equal to the number of tokens"

    assert find(
        "AssertionError: max_model_len should be less than or equal to the number of tokens", phrase=phrase
    )
    assert not find(
        "AssertionError: local_size must be less than or equal to the number of tokens", phrase=phrase
    )


def test_the_command_line_of_a_build_is_no_rewording() -> None:
    phrase = "No such file or directory: nvcc dependency output generated"
    words = "no such file or directory: nvcc dependency output generated"

    assert find(f"error: {words}", phrase=phrase)
    assert not find(f"[1/3] /usr/local/cuda/bin/nvcc --generate {words} -DX", phrase=phrase)
