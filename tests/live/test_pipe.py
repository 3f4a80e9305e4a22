from __future__ import annotations

import os
import threading
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vllm_triage.live.pipe import pump


def through(pieces: list[bytes], feed: Callable[[bytes], object]) -> bytes:
    """What comes out of the echo when these pieces are written into the source."""
    source, into = os.pipe()
    out, sink = os.pipe()

    def write() -> None:
        for piece in pieces:
            os.write(into, piece)
        os.close(into)

    echoed = bytearray()

    def read() -> None:
        while got := os.read(out, 1 << 16):
            echoed.extend(got)

    threads = [threading.Thread(target=write), threading.Thread(target=read)]
    for thread in threads:
        thread.start()
    try:
        pump(source, [sink], feed)
    finally:
        os.close(sink)
        for thread in threads:
            thread.join()
        os.close(source)
        os.close(out)
    return bytes(echoed)


@settings(max_examples=30)
@given(st.lists(st.binary(min_size=1), max_size=8))
def test_bytes_in_are_bytes_out_and_bytes_fed(pieces: list[bytes]) -> None:
    fed: list[bytes] = []

    assert through(pieces, fed.append) == b"".join(pieces)
    assert b"".join(fed) == b"".join(pieces)


def test_more_than_a_pipe_holds_goes_through() -> None:
    log = os.urandom(3 << 20)

    assert through([log], lambda piece: None) == log


def test_each_piece_is_written_before_it_is_fed() -> None:
    source, into = os.pipe()
    out, sink = os.pipe()
    seen: list[bytes] = []
    os.write(into, b"line\n")
    os.close(into)

    pump(source, [sink], lambda piece: seen.append(os.read(out, 100)))

    assert seen == [b"line\n"]


def test_a_closed_reader_ends_the_echo_and_not_the_feeding() -> None:
    source, into = os.pipe()
    out, sink = os.pipe()
    os.close(out)
    os.write(into, b"line\n")
    os.close(into)
    fed: list[bytes] = []

    pump(source, [sink], fed.append)

    assert fed == [b"line\n"]


def test_the_echo_goes_on_after_an_error_of_ours() -> None:
    source, into = os.pipe()
    out, sink = os.pipe()
    calls: list[bytes] = []

    def fail(piece: bytes) -> None:
        calls.append(piece)
        if len(calls) == 1:
            os.write(into, b"two\n")
            os.close(into)
        raise ValueError("ours")

    os.write(into, b"one\n")
    with pytest.raises(ValueError, match="ours"):
        pump(source, [sink], fail)

    assert calls == [b"one\n"]
    assert os.read(out, 100) == b"one\ntwo\n"


def test_a_sink_that_does_not_block_gets_everything() -> None:
    source, into = os.pipe()
    out, sink = os.pipe()
    os.set_blocking(sink, False)
    log = os.urandom(1 << 20)
    echoed = bytearray()

    def write() -> None:
        os.write(into, log)
        os.close(into)

    def read() -> None:
        while len(echoed) < len(log):
            echoed.extend(os.read(out, 4096))

    threads = [threading.Thread(target=write), threading.Thread(target=read)]
    for thread in threads:
        thread.start()
    pump(source, [sink], lambda piece: None)
    for thread in threads:
        thread.join()

    assert bytes(echoed) == log
