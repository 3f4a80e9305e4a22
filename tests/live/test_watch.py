"""When to speak up, with a clock of the test's own."""

from __future__ import annotations

import pytest

from vllm_triage.live.watch import DEFAULT_STALL_S, STALL_S, Watch

READY = b"(APIServer pid=1) INFO:     Application startup complete.\n"
ERROR = b"(EngineCore_DP0 pid=2) ERROR 11-20 10:00:09 [core.py:708] ValueError: no\n"
INFO = b"INFO 11-20 10:00:09 [x.py:1] Loading\n"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_readiness_is_said_once(clock: Clock) -> None:
    watch = Watch(clock)

    assert [watch.saw(INFO), watch.saw(READY), watch.saw(READY)] == [None, "ready", None]


def test_readiness_is_seen_across_two_pieces(clock: Clock) -> None:
    watch = Watch(clock)

    assert [watch.saw(READY[:40]), watch.saw(READY[40:])] == [None, "ready"]


def test_an_error_counts_once_nothing_more_comes(clock: Clock) -> None:
    watch = Watch(clock)
    watch.saw(ERROR)
    clock.now += 1
    early = watch.tick()
    clock.now += 5

    assert (early, watch.tick(), watch.tick()) == (None, "failing", None)


def test_errors_of_requests_are_looked_into_once_a_minute_at_most(clock: Clock) -> None:
    watch = Watch(clock)
    watch.saw(READY)
    seen = []
    for _ in range(60):
        watch.saw(ERROR)
        clock.now += 6
        seen.append(watch.tick())

    assert 1 <= seen.count("failing") <= 6


def test_silence_before_readiness_is_a_stall_said_once(clock: Clock) -> None:
    watch = Watch(clock, stall_after=30)
    watch.saw(INFO)
    clock.now += 29
    early = watch.tick()
    clock.now += 2

    assert (early, watch.tick(), watch.tick()) == (None, "stalled", None)


def test_what_moves_is_no_stall(clock: Clock) -> None:
    watch = Watch(clock, stall_after=30)
    for _ in range(100):
        watch.saw(b"\rLoading safetensors checkpoint shards:  10%")
        clock.now += 20
        assert watch.tick() is None


def test_notices_of_waiting_do_not_move(clock: Clock) -> None:
    watch = Watch(clock, stall_after=100)
    seen = []
    for _ in range(3):
        watch.saw(
            b"INFO 11-20 10:00:09 [shm_broadcast.py:466] No available shared memory broadcast block found in 60 seconds.\n"
        )
        clock.now += 60
        seen.append(watch.tick())

    assert "stalled" in seen


def test_a_server_that_is_ready_may_be_silent(clock: Clock) -> None:
    watch = Watch(clock, stall_after=30)
    watch.saw(READY)
    clock.now += 1_000_000

    assert watch.tick() is None


def test_a_long_compile_is_given_its_time(clock: Clock) -> None:
    watch = Watch(clock, phase=lambda: "compile")
    watch.saw(INFO)
    clock.now += DEFAULT_STALL_S + 1
    early = watch.tick()
    clock.now += STALL_S["compile"]

    assert (early, watch.tick()) == (None, "stalled")
