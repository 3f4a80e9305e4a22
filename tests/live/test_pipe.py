from __future__ import annotations

import os
import threading
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vllm_triage.live.echo import Echo
from vllm_triage.live.pipe import pump


class Recorder:
    """A taker that keeps what it gets, or does what a test wants with it."""

    def __init__(self, feed: Callable[[bytes], object] = lambda piece: None) -> None:
        self.pieces: list[bytes] = []
        self._feed = feed

    def feed(self, piece: bytes) -> None:
        self.pieces.append(piece)
        self._feed(piece)

    def tick(self) -> None:
        pass


def source_of(*pieces: bytes) -> int:
    """A pipe that holds these pieces, with no writer any more."""
    source, into = os.pipe()
    for piece in pieces:
        os.write(into, piece)
    os.close(into)
    return source


def through(pieces: list[bytes], taker: Recorder, read_size: int = 1 << 16, blocking: bool = True) -> bytes:
    """What comes out of the echo when these pieces are written into the source."""
    source, into = os.pipe()
    out, sink = os.pipe()
    os.set_blocking(sink, blocking)

    def write() -> None:
        for piece in pieces:
            rest = memoryview(piece)
            while rest:
                rest = rest[os.write(into, rest) :]
        os.close(into)

    echoed = bytearray()

    def read() -> None:
        while got := os.read(out, read_size):
            echoed.extend(got)

    threads = [threading.Thread(target=write), threading.Thread(target=read)]
    for thread in threads:
        thread.start()
    try:
        pump(source, Echo({sink: "out"}), taker)
    finally:
        os.close(sink)
        for thread in threads:
            thread.join()
        os.close(source)
        os.close(out)
    return bytes(echoed)


@settings(max_examples=30)
@given(st.lists(st.binary(min_size=1), max_size=8))
def test_bytes_in_are_bytes_out_and_bytes_taken(pieces: list[bytes]) -> None:
    taker = Recorder()

    assert through(pieces, taker) == b"".join(pieces)
    assert b"".join(taker.pieces) == b"".join(pieces)


def test_more_than_a_pipe_holds_goes_through() -> None:
    log = os.urandom(3 << 20)

    assert through([log], Recorder()) == log


@pytest.mark.parametrize("blocking", [True, False])
def test_a_slow_reader_gets_everything(blocking: bool) -> None:
    log = os.urandom(1 << 20)

    assert through([log], Recorder(), read_size=997, blocking=blocking) == log


def test_each_piece_is_written_before_it_is_taken() -> None:
    out, sink = os.pipe()
    seen: list[bytes] = []

    pump(source_of(b"line\n"), Echo({sink: "out"}), Recorder(lambda piece: seen.append(os.read(out, 100))))

    assert seen == [b"line\n"]


def test_a_closed_reader_ends_the_echo_and_not_the_reading() -> None:
    out, sink = os.pipe()
    os.close(out)
    taker = Recorder()
    lost: list[str] = []

    pump(source_of(b"line\n"), Echo({sink: "out"}, lambda name, reason: lost.append(name)), taker)

    assert taker.pieces == [b"line\n"]
    assert lost == []  # whoever closes a pager knows it


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_ends_its_own_copy_alone_and_is_told() -> None:
    out, sink = os.pipe()
    full = os.open("/dev/full", os.O_WRONLY)
    lost: list[tuple[str, str]] = []

    pump(
        source_of(b"line\n"),
        Echo({full: "copy.log", sink: "out"}, lambda name, reason: lost.append((name, reason))),
        Recorder(),
    )

    assert os.read(out, 100) == b"line\n"
    assert lost == [("copy.log", "No space left on device")]


def test_the_echo_goes_on_after_an_error_of_ours() -> None:
    source, into = os.pipe()
    out, sink = os.pipe()

    def fail(piece: bytes) -> None:
        os.write(into, b"two\n")
        os.close(into)
        raise ValueError("ours")

    os.write(into, b"one\n")
    taker = Recorder(fail)
    with pytest.raises(ValueError, match="ours"):
        pump(source, Echo({sink: "out"}), taker)

    assert taker.pieces == [b"one\n"]
    assert os.read(out, 100) == b"one\ntwo\n"


def test_it_is_ticked_while_nothing_comes() -> None:
    source, into = os.pipe()

    class Closing(Recorder):
        def tick(self) -> None:
            os.close(into)

    assert pump(source, Echo({}), Closing()) is None


def test_a_source_that_does_not_block_is_waited_for() -> None:
    source, into = os.pipe()
    os.set_blocking(source, False)
    taker = Recorder(lambda piece: os.close(into))
    os.write(into, b"line\n")

    pump(source, Echo({}), taker)

    assert taker.pieces == [b"line\n"]
