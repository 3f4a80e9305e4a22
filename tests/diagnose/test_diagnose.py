"""Verdicts and root causes, on logs built from known parts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vllm_triage.model import ErrorBlock, Outcome

Judge = Callable[[str], Outcome]

BANNER = "INFO 11-20 10:00:00 [api_server.py:1] vLLM API server version 0.11.0"
READY = "(APIServer pid=1) INFO:     Application startup complete."
SERVING = (
    "(APIServer pid=1) INFO 11-20 10:05:00 [loggers.py:1] Engine 000: Avg prompt throughput: 1.0 tokens/s"
)
WRAPPER = "(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above."
STOP = "(APIServer pid=1) INFO 11-20 10:09:00 [launcher.py:99] Shutting down FastAPI HTTP server."


def worker(rank: int, text: str) -> str:
    return f"(Worker_TP{rank} pid={rank + 10}) ERROR 11-20 10:00:02 [multiproc_executor.py:5] {text}"


def core(text: str, level: str = "ERROR") -> str:
    return f"(EngineCore_DP0 pid=5) {level} 11-20 10:00:03 [core.py:708] {text}"


def log(*lines: str) -> str:
    return "\n".join([BANNER, *lines])


def rules(outcome: Outcome) -> list[str]:
    return [finding.rule.id for finding in outcome.findings]


def root_number(outcome: Outcome) -> int:
    assert outcome.root is not None
    return outcome.root.root.number if isinstance(outcome.root, ErrorBlock) else outcome.root.number


def test_the_worker_s_error_is_the_cause_of_the_core_s_and_the_server_s(judge: Judge) -> None:
    outcome = judge(
        log(core("RuntimeError: request refused"), worker(0, "ValueError: no room left"), WRAPPER)
    )

    assert outcome.verdict == "failed"
    assert rules(outcome)[0] == "no-room"
    assert [hit.rule.id for hit in outcome.consequences] == ["wrapper"]


def test_the_first_worker_to_fail_wins_over_the_broken_pipes_of_the_others(judge: Judge) -> None:
    outcome = judge(
        log(
            worker(1, "BrokenPipeError: [Errno 32] Broken pipe"),
            worker(2, "ValueError: no weights found"),
            worker(0, "ValueError: no room left"),
        )
    )

    assert rules(outcome)[0] == "no-weights"


def test_a_fallback_answers_only_if_nothing_else_does(judge: Judge) -> None:
    both = judge(log(worker(0, "RuntimeError: memory trouble"), worker(0, "ValueError: no room left")))
    alone = judge(log(worker(0, "RuntimeError: memory trouble")))

    assert rules(both)[0] == "no-room"
    assert rules(alone) == ["some-memory"]


def test_the_rule_that_beats_another_answers_for_both_links_of_a_chain(judge: Judge) -> None:
    outcome = judge(
        log(
            "Traceback (most recent call last):",
            '  File "hub.py", line 1, in get',
            "HTTPError: request refused",
            "",
            "The above exception was the direct cause of the following exception:",
            "",
            "Traceback (most recent call last):",
            '  File "hub.py", line 2, in get',
            "GatedRepoError: gated repository",
        )
    )

    assert rules(outcome)[0] == "gated"


def test_an_unknown_error_is_shown_and_not_guessed_at(judge: Judge) -> None:
    outcome = judge(log(worker(0, "ValueError: the frobnicator is upside down"), WRAPPER))

    assert outcome.verdict == "failed"
    assert outcome.findings == ()
    assert root_number(outcome) == 2


def test_wrappers_alone_name_no_cause_and_say_what_is_missing(judge: Judge) -> None:
    outcome = judge(log(WRAPPER))

    assert (outcome.verdict, outcome.findings) == ("failed", ())
    assert outcome.missing is not None


def test_a_server_that_serves_is_healthy_whatever_was_printed_before(judge: Judge) -> None:
    outcome = judge(log(core("ValueError: no room left"), READY, SERVING))

    assert outcome.verdict == "healthy"
    assert outcome.findings == ()


def test_an_orderly_end_is_no_failure_whatever_it_prints(judge: Judge) -> None:
    outcome = judge(log(READY, SERVING, STOP, core("ValueError: no room left"), WRAPPER))

    assert outcome.verdict == "healthy"


def test_an_engine_that_dies_while_serving_is_a_failure(judge: Judge) -> None:
    outcome = judge(
        log(READY, SERVING, core("EngineCore encountered a fatal error."), core("ValueError: no room left"))
    )

    assert outcome.verdict == "failed"
    assert rules(outcome)[0] == "no-room"


def test_the_last_start_decides(judge: Judge) -> None:
    failed_then_ready = judge(log(core("ValueError: no room left"), BANNER, READY))
    ready_then_failed = judge(log(READY, STOP, BANNER, core("ValueError: no room left")))

    assert failed_then_ready.verdict == "healthy"
    assert rules(ready_then_failed) == ["no-room"]


def test_a_start_that_was_interrupted_has_not_failed_by_itself(judge: Judge) -> None:
    outcome = judge(log("KeyboardInterrupt", core("ValueError: no room left")))

    assert rules(outcome) == ["stopped-from-outside"]


def test_a_warning_counts_only_where_its_rule_asks_for_warnings(judge: Judge) -> None:
    outcome = judge(
        log(
            core("ValueError: no room left", level="WARNING"),
            core("this will not work later", level="WARNING"),
        )
    )

    assert rules(outcome) == ["hint"]


def test_an_end_without_error_is_inconclusive(judge: Judge) -> None:
    outcome = judge(log("INFO 11-20 10:00:00 [model.py:1] Resolved architecture: X"))

    assert outcome.verdict == "inconclusive"
    assert outcome.missing is not None


@pytest.mark.parametrize("text", ["", "hello\nworld", "GET / 200\nserver started"])
def test_other_programs_logs_are_said_to_be_no_vllm_log(judge: Judge, text: str) -> None:
    outcome = judge(text)

    assert outcome.verdict == "inconclusive"
    assert "does not look like" in (outcome.missing or "")


def test_what_earlier_starts_failed_of_is_a_notice(judge: Judge) -> None:
    outcome = judge(
        log(
            core("ValueError: no weights found"),
            BANNER,
            core("ValueError: no weights found"),
            BANNER,
            core("ValueError: no room left"),
        )
    )

    assert rules(outcome)[0] == "no-room"
    (notice,) = outcome.notices
    assert [(hit.rule.id, hit.line.number) for hit in notice.evidence] == [
        ("no-weights", 2),
        ("no-weights", 4),
    ]
    assert outcome.context.attempts == 3


def test_a_start_that_is_still_under_way_does_not_hide_the_failure_before_it(judge: Judge) -> None:
    outcome = judge(log(core("ValueError: no room left"), BANNER))

    assert (outcome.verdict, rules(outcome)) == ("failed", ["no-room"])


def test_the_same_failure_in_several_ranks_is_one_cause_with_all_of_them(judge: Judge) -> None:
    outcome = judge(log(*(worker(rank, "ValueError: no room left") for rank in range(4))))

    (finding,) = outcome.findings
    assert [hit.line.process for hit in finding.evidence] == [f"Worker_TP{rank}" for rank in range(4)]


def test_a_server_that_fails_ends_its_engine_and_is_not_stopped_from_outside(judge: Judge) -> None:
    outcome = judge(
        log(
            core("KeyboardInterrupt", level="INFO"),
            "Traceback (most recent call last):",
            '  File "/opt/vllm/api_server.py", line 1, in build',
            "FileNotFoundError: no weights found",
        )
    )

    assert rules(outcome)[0] == "no-weights"


def test_a_failure_of_the_environment_dump_is_not_that_of_the_server(judge: Judge) -> None:
    dump = 'Traceback (most recent call last):\n  File "/app/collect_env.py", line 7, in main\nImportError: no weights found'

    assert rules(judge(log(dump, core("ValueError: no room left"))))[0] == "no-room"


def test_the_end_of_a_server_whose_beginning_is_cut_off_is_no_failure(judge: Judge) -> None:
    outcome = judge("\n".join(["INFO:     Shutting down", core("ValueError: no room left"), WRAPPER]))

    assert (outcome.verdict, outcome.findings) == ("healthy", ())


METRICS = '(APIServer pid=1) INFO:     127.0.0.1:52284 - "GET /metrics HTTP/1.1" 200 OK'
COMPLETION = '(APIServer pid=1) INFO:     127.0.0.1:52284 - "POST /v1/completions HTTP/1.1" 200 OK'


def test_a_probe_that_is_answered_after_an_error_does_not_show_that_it_was_survived(judge: Judge) -> None:
    failed = "(EngineCore_DP0 pid=5) ValueError: no room left"

    assert rules(judge(f"{failed}\n{METRICS}")) == ["no-room"]
    assert rules(judge(f"{COMPLETION}\n{failed}\n{METRICS}")) == ["no-room"]
    assert judge(f"{failed}\n{COMPLETION}").verdict == "healthy"
    assert judge(f"{METRICS}\n{METRICS}").verdict == "healthy"


def test_no_answer_brings_a_dead_engine_back(judge: Judge) -> None:
    outcome = judge("\n".join([core("ValueError: no room left"), core("EngineDeadError: gone"), COMPLETION]))

    assert rules(outcome)[0] == "no-room"


def test_an_engine_loop_that_ends_with_a_repr_is_a_failure(judge: Judge) -> None:
    record = "ERROR 11-20 10:05:01 engine.py:158] ValueError('no room left')"
    request = "ERROR 11-20 10:05:01 serving_chat.py:158] ValueError('no room left')"

    assert rules(judge(f"{COMPLETION}\n{record}")) == ["no-room"]
    assert judge(f"{COMPLETION}\n{request}").verdict == "healthy"


def test_a_wrapper_that_quotes_the_worker_shows_what_it_quotes(judge: Judge) -> None:
    tail = "', please check the stack trace above for the root cause. See root cause above"
    unknown = judge(log(core(f"RuntimeError: Worker failed with error 'the moon is full{tail}")))
    known = judge(log(core(f"RuntimeError: Worker failed with error 'memory trouble{tail}")))
    nothing = judge(log(core(f"RuntimeError: Worker failed with error 'None{tail}")))

    assert (unknown.findings, root_number(unknown)) == ((), 2)
    assert rules(known) == ["some-memory"]
    assert nothing.root is None


def test_words_that_only_suggest_a_cause_are_less_sure_than_words_that_prove_one(judge: Judge) -> None:
    suggested, proved = judge(log("bus trouble")), judge(log("no room left"))

    assert (rules(suggested), rules(proved)) == (["suggested"], ["no-room"])
    assert suggested.findings[0].confidence < 0.5 < proved.findings[0].confidence
    assert rules(judge(log("bus trouble", worker(0, "ValueError: no room left"))))[0] == "no-room"


@pytest.mark.parametrize(
    "lost",
    [
        "RuntimeError: [gloo/transport/tcp/pair.cc:544] Connection closed by peer [10.0.0.7]:2345",
        "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 1/2 clients joined.",
        "torch.distributed.DistBackendError: NCCL error, remote process exited: request refused",
    ],
)
@pytest.mark.parametrize("own", ["ValueError: no room left", "ValueError: nobody knows this"])
def test_the_error_of_the_peer_that_is_gone_comes_before_the_news_of_it(
    judge: Judge, lost: str, own: str
) -> None:
    outcome = judge(log(worker(0, lost), worker(1, own), worker(2, lost)))

    assert root_number(outcome) == 3


def test_a_lost_peer_is_the_cause_where_nobody_says_more(judge: Judge) -> None:
    assert root_number(judge(log(worker(0, "RuntimeError: Connection closed by peer"), WRAPPER))) == 2


def test_a_notice_that_the_start_went_on_after_yields_to_the_exception_it_ended_with(judge: Judge) -> None:
    notice, raised = "no weights found at first, once more", "ValueError: nobody knows this"
    went_on = "INFO 11-20 10:00:00 [default_loader.py:267] Loading weights took 2.48 seconds"

    assert rules(judge(log(notice, went_on, raised))) == []
    assert rules(judge(log(notice, raised))) == ["no-weights"]
    assert rules(judge(log(notice, went_on, "ValueError: no weights found"))) == ["no-weights"]


def test_an_exception_that_ended_a_thread_is_less_than_one_that_ended_the_process(judge: Judge) -> None:
    thread = [
        "Exception in thread Thread-2 (_report_usage_worker):",
        "Traceback (most recent call last):",
        '  File "/venv/vllm/usage/usage_lib.py", line 3, in _report_usage_worker',
        "ValueError: no weights found",
    ]

    assert rules(judge(log(*thread, core("ValueError: no room left"))))[0] == "no-room"
    assert rules(judge(log(*thread, core("ValueError: nobody knows this")))) == []
    assert rules(judge(log(*thread))) == ["no-weights"]


def test_a_log_that_ends_with_a_notice_of_waiting_shows_it(judge: Judge) -> None:
    outcome = judge(log("INFO 11-20 10:05:00 [x.py:1] nothing moves"))

    assert outcome.verdict == "inconclusive"
    assert root_number(outcome) == 2


def test_a_traceback_cut_before_its_exception_shows_the_line_that_raises(judge: Judge) -> None:
    frames = [core("Traceback (most recent call last):"), core('  File "/venv/x.py", line 3, in load')]
    cut = judge(log(*frames, core('    raise RuntimeError("no room left. Please')))
    qualified = judge(log(*frames, core("    raise demo.errors.Full('no room left. Please"), "", " "))
    going_on = judge(log(*frames, core('    raise RuntimeError("no room left. Please'), READY))

    assert (rules(cut), root_number(cut)) == (["no-room"], 4)
    assert (rules(qualified), root_number(qualified)) == (["no-room"], 4)
    assert rules(going_on) == []


def test_a_log_that_ends_within_a_traceback_has_failed(judge: Judge) -> None:
    frames = [core("Traceback (most recent call last):"), core('  File "/venv/x.py", line 3, in load')]
    cut = judge(log(*frames, core("    with engine() as"), ""))
    going_on = judge(log(*frames, core("    with engine() as"), "INFO 11-20 10:05:00 [x.py:1] on it goes"))
    ignored = judge(
        log("Exception ignored in: <x>", *(part.split("] ", 1)[1] for part in frames), "TypeError: x")
    )

    assert (cut.verdict, root_number(cut)) == ("failed", 4)
    assert "traceback" in (cut.missing or "")
    assert (going_on.verdict, ignored.verdict) == ("inconclusive", "inconclusive")


def test_a_record_that_the_engine_started_up_after_is_no_cause(judge: Judge) -> None:
    up = core("init engine (profile, create kv cache, warmup model) took 3.56 seconds", "INFO")
    raised = "ValueError: nobody knows this"

    assert judge(log(core("no room left"), up)).verdict == "inconclusive"
    assert (rules(judge(log(core("no room left"), up, raised))), rules(judge(log(core("no room left"))))) == (
        [],
        ["no-room"],
    )
    assert rules(judge(log(core("ValueError: no room left"), up))) == ["no-room"]
    assert rules(judge(log(core("no room left").replace("DP0", "DP1"), up))) == ["no-room"]


def test_an_error_that_is_tried_again_is_not_the_last_word(judge: Judge) -> None:
    again = judge(log(core("no weights found at demo, retrying 1 of 2"), "ValueError: nobody knows this"))
    last = judge(log(core("no weights found at demo"), "ValueError: nobody knows this"))

    assert (rules(again), rules(last)) == ([], ["no-weights"])


def test_what_processes_say_at_every_end_is_no_failure(judge: Judge) -> None:
    assert judge(log("nanobind: leaked 4 instances!")).verdict == "inconclusive"


def test_a_validators_message_is_an_exception_under_any_heading(judge: Judge) -> None:
    outcome = judge(
        log(
            "engine.py :170 Error initializing: 1 validation error for ModelConfig",
            "  Value error, no room left [type=value_error, input_value=1, input_type=int]",
        )
    )

    assert root_number(outcome) == 3
    assert outcome.findings[0].evidence[0].line.kind == "exception"
