"""When to speak up, with a clock of the test's own."""

from __future__ import annotations

import pytest

from vllm_triage.live.watch import FIRST_LOOK_S, Event, Watch
from vllm_triage.scan import Scanner

READY = b"(APIServer pid=1) INFO:     Application startup complete.\n"
ERROR = b"(EngineCore_DP0 pid=2) ERROR 11-20 10:00:09 [core.py:708] ValueError: no\n"
INFO = b"INFO 11-20 10:00:09 [x.py:1] Loading\n"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Followed(Watch):
    """A watch that is told what the scanner sees."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.scanner = Scanner()

    def comes(self, piece: bytes) -> Event | None:
        self.scanner.feed(piece)
        return self.saw(piece, self.scanner.take_seen())


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_readiness_is_said_once(clock: Clock) -> None:
    watch = Followed(clock)

    assert [watch.comes(INFO), watch.comes(READY), watch.comes(READY)] == [None, "ready", None]


def test_readiness_is_seen_across_two_pieces(clock: Clock) -> None:
    watch = Followed(clock)

    assert [watch.comes(READY[:40]), watch.comes(READY[40:])] == [None, "ready"]


def test_an_error_counts_once_nothing_more_comes(clock: Clock) -> None:
    watch = Followed(clock)
    watch.comes(ERROR)
    clock.now += 1
    early = watch.tick()
    clock.now += 5

    assert (early, watch.tick(), watch.tick()) == (None, "failing", None)


def test_errors_of_requests_are_looked_into_once_a_minute_at_most(clock: Clock) -> None:
    watch = Followed(clock)
    watch.comes(READY)
    seen = []
    for _ in range(60):
        watch.comes(ERROR)
        clock.now += 6
        seen.append(watch.tick())

    assert 1 <= seen.count("failing") <= 6


def test_silence_before_readiness_is_a_stall_said_once(clock: Clock) -> None:
    watch = Followed(clock, stall_after=30)
    watch.comes(INFO)
    clock.now += 29
    early = watch.tick()
    clock.now += 2

    assert (early, watch.tick(), watch.tick()) == (None, "stalled", None)


def test_what_moves_is_no_stall(clock: Clock) -> None:
    watch = Followed(clock, stall_after=30)
    for _ in range(100):
        watch.comes(b"\rLoading safetensors checkpoint shards:  10%")
        clock.now += 20
        assert watch.tick() is None


def test_notices_of_waiting_do_not_move(clock: Clock) -> None:
    watch = Followed(clock, stall_after=100)
    seen = []
    for _ in range(3):
        watch.comes(
            b"INFO 11-20 10:00:09 [shm_broadcast.py:466] No available shared memory broadcast block found in 60 seconds.\n"
        )
        clock.now += 60
        seen.append(watch.tick())

    assert "stalled" in seen


def test_a_server_that_is_ready_may_be_silent(clock: Clock) -> None:
    watch = Followed(clock, stall_after=30)
    watch.comes(READY)
    clock.now += 1_000_000

    assert watch.tick() is None


def test_a_phase_that_may_be_silent_is_given_its_time(clock: Clock) -> None:
    asked = []
    watch = Followed(clock, normal_s=lambda: asked.append(clock.now) or 1800)
    watch.comes(INFO)
    seen = []
    for _ in range(1799):
        clock.now += 1
        seen.append(watch.tick())
    clock.now += 1

    assert (set(seen), watch.tick(), watch.tick()) == ({None}, "stalled", None)
    assert asked == [1000 + FIRST_LOOK_S]


def test_an_error_is_looked_into_although_the_server_goes_on_to_talk(clock: Clock) -> None:
    watch = Followed(clock)
    watch.comes(ERROR)
    seen = []
    for _ in range(25):
        clock.now += 1
        watch.comes(b"INFO still here\n")
        seen.append(watch.tick())

    assert seen.count("failing") == 1


def test_notices_of_waiting_do_not_put_off_the_look_into_an_error(clock: Clock) -> None:
    watch = Followed(clock)
    watch.comes(ERROR)
    clock.now += 4
    watch.comes(
        b"INFO 11-20 10:00:09 [utils.py:500] Waiting for 1 local, 0 remote core engine proc(s) to start.\n"
    )
    clock.now += 2

    assert watch.tick() == "failing"
