"""Exceptions as printed: types, messages, frames, chains, and copies that are interleaved."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from vllm_triage.log import chains
from vllm_triage.model import Log

Read = Callable[[str], Log]


def test_a_raw_traceback_is_one_block(read: Read) -> None:
    log = read(
        """
        Traceback (most recent call last):
          File "/opt/vllm/engine.py", line 3, in run
            start()
            ^^^^^^^
          File "/opt/vllm/model.py", line 9, in start
            raise ValueError("no")
        ValueError: no
        """
    )

    (block,) = log.blocks
    assert (block.type, block.message, block.lines[0].number) == ("ValueError", "no", 7)
    assert [(frame.function, frame.line) for frame in block.frames] == [("run", 3), ("start", 9)]
    assert block.frames[0].source == "start()"


def test_stamped_copies_of_two_workers_written_line_by_line_are_kept_apart(read: Read) -> None:
    def copy(process: str, reason: str) -> list[str]:
        stamp = f"({process} pid=1) ERROR 11-20 10:00:00 [multiproc_executor.py:5] "
        return [
            stamp + "Traceback (most recent call last):",
            stamp + f'  File "/opt/vllm/{process}.py", line 1, in load',
            stamp + f"RuntimeError: {reason}",
        ]

    pairs = zip(copy("Worker_TP0", "disk"), copy("Worker_TP1", "network"), strict=True)
    log = read("\n".join(line for pair in pairs for line in pair))

    assert [(block.process, block.message) for block in log.blocks] == [
        ("Worker_TP0", "disk"),
        ("Worker_TP1", "network"),
    ]
    assert [block.frames[0].file for block in log.blocks] == [
        "/opt/vllm/Worker_TP0.py",
        "/opt/vllm/Worker_TP1.py",
    ]


def test_the_links_of_a_chain_are_joined_in_order(read: Read) -> None:
    log = read(
        """
        Traceback (most recent call last):
          File "a.py", line 1, in f
            d["x"]
        KeyError: 'x'

        During handling of the above exception, another exception occurred:

        Traceback (most recent call last):
          File "a.py", line 3, in f
            g()
        OSError: no such model

        The above exception was the direct cause of the following exception:

        Traceback (most recent call last):
          File "b.py", line 1, in main
            f()
        RuntimeError: cannot start
        """
    )

    (chain,) = chains(log.blocks)
    assert [(block.name, block.link) for block in chain] == [
        ("KeyError", "context"),
        ("OSError", "cause"),
        ("RuntimeError", None),
    ]


def test_exceptions_one_after_the_other_are_no_chain(read: Read) -> None:
    log = read("ValueError: first\n\nTraceback (most recent call last):\nRuntimeError: second")

    assert len(list(chains(log.blocks))) == 2


def test_the_name_before_a_raw_traceback_is_its_process(read: Read) -> None:
    log = read(
        """
        Process EngineCore_DP0:
        Traceback (most recent call last):
          File "a.py", line 1, in f
        RuntimeError: boom
        """
    )

    assert log.blocks[0].process == "EngineCore_DP0"


def test_lost_indentation_does_not_turn_source_into_an_exception(read: Read) -> None:
    log = read(
        """
        Traceback (most recent call last):
        File "a.py", line 1, in f
        config: ModelConfig = make(config)
        File "a.py", line 2, in make
        raise ValueError(text)
        ValueError: bad config
        """
    )

    assert [block.type for block in log.blocks] == ["ValueError"]
    assert len(log.blocks[0].frames) == 2


def test_a_message_of_several_lines_belongs_to_its_exception(read: Read) -> None:
    log = read(
        """
        pydantic_core._pydantic_core.ValidationError: 1 validation error for CacheConfig
        gpu_memory_utilization
          Input should be less than or equal to 1 [type=less_than_equal, input_value=1.5, input_type=float]
            For further information visit https://errors.pydantic.dev/2.12/v/less_than_equal
        INFO 11-20 10:00:00 [core.py:48] after
        """
    )

    (block,) = log.blocks
    assert [line.number for line in block.lines] == [1, 2, 3, 4]
    assert block.root.number == 3


def test_the_value_error_of_a_validation_error_is_its_root(read: Read) -> None:
    log = read(
        """
        pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig
          Value error, The model has no such length [type=value_error, input_value=ArgsKwargs((), {}), input_type=ArgsKwargs]
        """
    )

    assert log.blocks[0].root.number == 2


def test_a_surplus_option_is_shown_by_its_name(read: Read) -> None:
    log = read(
        """
        pydantic_core._pydantic_core.ValidationError: 1 validation error for SpeculativeConfig
        num_tokens
          Unexpected keyword argument [type=unexpected_keyword_argument, input_value=3, input_type=int]
        """
    )

    assert log.blocks[0].root.text == "num_tokens"


def test_a_bare_assertion_is_shown_by_its_source_line(read: Read) -> None:
    log = read(
        """
        Traceback (most recent call last):
          File "a.py", line 1, in f
            assert heads % size == 0
        AssertionError
        """
    )

    assert log.blocks[0].root.text.strip() == "assert heads % size == 0"


def test_a_raise_that_names_the_type_alone_says_no_more_than_the_exception(read: Read) -> None:
    log = read(
        """
        Traceback (most recent call last):
          File "a.py", line 1, in f
            raise TimeoutError from None
        TimeoutError
        """
    )

    assert log.blocks[0].root.text == "TimeoutError"


def test_what_another_writer_put_between_a_frame_and_its_source_is_no_source(read: Read) -> None:
    log = read(
        """
        Traceback (most recent call last):
          File "a.py", line 1, in f
        Do you wish to run the custom code? [y/N]
            answer = input(
        EOFError: EOF when reading a line
        """
    )

    assert log.blocks[0].frames[0].source == "answer = input("
    assert [line.kind for line in log][2] == "plain"


def test_the_notice_that_the_engine_failed_is_no_part_of_a_message(read: Read) -> None:
    log = read(
        "RuntimeError: no answer within 5 minutes\nEngine core initialization failed. See root cause above."
    )

    assert [len(block.lines) for block in log.blocks] == [1]


def test_ipython_frames_are_frames(read: Read) -> None:
    log = read(
        """
        ValueError                                Traceback (most recent call last)
        File /usr/lib/python3.12/dist-packages/vllm/config.py:712, in _verify(self)
        ValueError: bad dtype
        """
    )

    assert log.blocks[0].frames[0].function == "_verify"


def test_an_ignored_exception_is_none(read: Read) -> None:
    log = read(
        """
        Exception ignored in: <function LLM.__del__ at 0x7f>
        Traceback (most recent call last):
          File "a.py", line 1, in __del__
        AttributeError: 'LLM' object has no attribute 'engine'
        """
    )

    assert log.blocks == ()


def test_a_traceback_without_its_source_lines_ends_with_its_exception(read: Read) -> None:
    log = read(
        """
        Traceback (most recent call last):
          File "a.py", line 1, in f
          File "a.py", line 2, in g
        AssertionError
        Traceback (most recent call last):
          File "a.py", line 1, in f
        Exception: expected value at line 1
        """
    )

    assert [(block.type, len(block.frames)) for block in log.blocks] == [
        ("AssertionError", 2),
        ("Exception", 1),
    ]


@given(order=st.lists(st.booleans(), min_size=12, max_size=12))
def test_raw_tracebacks_written_into_each_other_show_both_exceptions(
    read: Read, order: Sequence[bool]
) -> None:
    """Two processes without a prefix share a pipe; frames may mix, exceptions must not be lost."""
    one = [
        "Traceback (most recent call last):",
        '  File "a.py", line 1, in load',
        "    read(x)",
        "KeyError: 'w2'",
    ]
    two = [
        "Traceback (most recent call last):",
        '  File "b.py", line 7, in main',
        "    wait(engine)",
        "RuntimeError: Engine core initialization failed.",
    ]
    mixed: list[str] = []
    for takes_one in order:
        source = (one if takes_one else two) or one or two
        mixed += source[:1]
        del source[:1]
    mixed += one + two

    blocks = read("\n".join(mixed)).blocks

    assert {(block.type, block.message) for block in blocks} == {
        ("KeyError", "'w2'"),
        ("RuntimeError", "Engine core initialization failed."),
    }
    assert len({block.chain for block in blocks}) == 2


def test_a_heading_that_holds_the_message_is_read(read: Read) -> None:
    heading = "Exception in worker VllmWorkerProcess while processing method load_model: no room for it, Traceback (most recent call last):"
    short = "Engine core failed, Traceback (most recent call last):"

    assert [line.kind for line in read(f"{heading}\n{short}")] == ["plain", "aside"]


def test_a_traceback_that_has_lost_its_header_may_end_indented(read: Read) -> None:
    log = read(
        """
        File "/opt/vllm/engine/async_llm_engine.py", line 537, in add_request
          self.start_background_loop()
        File "/opt/vllm/engine/async_llm_engine.py", line 411, in start_background_loop
        raise AsyncEngineDeadError(
          vllm.engine.async_llm_engine.AsyncEngineDeadError: Background loop has errored already.
        """
    )

    assert [block.name for block in log.blocks] == ["AsyncEngineDeadError"]
