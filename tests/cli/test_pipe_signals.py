"""Signals, readers that leave and a gigabyte through the pipe, with real processes on both sides."""

from __future__ import annotations

import os
import random
import resource
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

LOGS = Path(__file__).parent.parent / "fixtures" / "logs"
FAILED = LOGS / "batched-tokens-below.log"
CAUSE = "batched-tokens-below-max-len"
TOOL = [sys.executable, "-m", "vllm_triage"]
Process = subprocess.Popen[bytes]


def start(*words: str, **streams: int) -> Process:
    given = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*TOOL, *words], **(given | streams))  # type: ignore[call-overload, no-any-return]


def reading(process: Process, log: bytes) -> None:
    """Give it the log, and return when it is known to read."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(log)
    process.stdin.flush()
    assert process.stdout.read(len(log)) == log


def test_sigterm_reports_what_is_there_and_exits() -> None:
    process = start()
    reading(process, FAILED.read_bytes())

    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)

    assert process.returncode == 128 + signal.SIGTERM
    assert CAUSE in err.decode()


def test_sigterm_ends_an_echo_that_nobody_reads() -> None:
    out, into = os.pipe()
    process = start(stdout=into)
    os.close(into)
    assert process.stdin is not None
    log = FAILED.read_bytes()
    os.set_blocking(process.stdin.fileno(), False)
    while os.get_blocking(process.stdin.fileno()) is False:
        try:
            os.write(process.stdin.fileno(), log)
        except BlockingIOError:
            break

    # Its first write, the only sign that it reads: all the others wait for us.
    first = os.read(out, 10)
    process.send_signal(signal.SIGTERM)
    process.stdin.close()
    process.stdin = None
    _, err = process.communicate(timeout=60)
    os.close(out)

    assert log.startswith(first)
    assert process.returncode == 128 + signal.SIGTERM
    assert "vllm-triage: " in err.decode()


def test_three_interrupts_are_enough_where_the_writer_does_not_end() -> None:
    process = start()
    reading(process, FAILED.read_bytes())

    assert process.stderr is not None
    while not select.select([process.stderr], [], [], 0.05)[0]:
        process.send_signal(signal.SIGINT)

    assert CAUSE in process.stderr.read().decode()
    assert process.wait(timeout=60) == 128 + signal.SIGINT
    for stream in (process.stdin, process.stdout, process.stderr):
        assert stream is not None
        stream.close()


@pytest.mark.parametrize("seed", range(4))
def test_an_interrupt_at_any_moment_loses_nothing(seed: int) -> None:
    log = FAILED.read_bytes() * 20
    cut = random.Random(seed).randrange(1, len(log))
    process = start()
    pieces: list[bytes] = []
    assert process.stdout is not None
    out = process.stdout

    def read() -> None:
        while piece := out.read1(1 << 16):  # type: ignore[attr-defined]
            pieces.append(piece)
            if sum(map(len, pieces)) >= cut and not told:
                told.append(True)
                process.send_signal(signal.SIGINT)

    told: list[bool] = []
    reader = threading.Thread(target=read)
    reader.start()
    assert process.stdin is not None
    process.stdin.write(log)
    process.stdin.close()
    reader.join()
    process.wait(timeout=60)

    assert told
    assert b"".join(pieces) == log
    assert process.returncode == 1
    for stream in (process.stdout, process.stderr):
        assert stream is not None
        stream.close()


@pytest.mark.parametrize("seed", range(4))
def test_a_reader_that_leaves_at_any_moment_ends_no_triage(seed: int) -> None:
    log = FAILED.read_bytes() * 20
    process = start()
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    out, leave = process.stdout, random.Random(seed).randrange(len(log))

    def read() -> None:
        out.read(leave)
        out.close()

    reader = threading.Thread(target=read)
    reader.start()
    process.stdin.write(log)
    process.stdin.close()
    reader.join()

    assert CAUSE in process.stderr.read().decode()
    assert process.wait(timeout=60) == 1
    process.stderr.close()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_ends_the_echo_and_not_the_triage() -> None:
    full = os.open("/dev/full", os.O_WRONLY)

    process = start(stdout=full)
    _, err = process.communicate(FAILED.read_bytes(), timeout=60)
    os.close(full)

    assert process.returncode == 1
    assert b"standard output gets no more of the log: No space left on device" in err
    assert CAUSE in err.decode()


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux alone")
def test_a_gigabyte_goes_through_in_flat_memory(tmp_path: Path) -> None:
    size = 1 << 30
    line = b"(EngineCore_DP0 pid=271) INFO 10-02 09:14:45 [loggers.py:118] Engine 000: Running: 1 reqs, GPU KV cache usage: 0.1%\n"
    made = f"import os\nblock = {line!r} * 9000\nleft = {size}\nwhile left > 0: left -= os.write(1, block[:left])"
    writer = subprocess.Popen([sys.executable, "-c", made], stdout=subprocess.PIPE)
    counter = subprocess.Popen(
        [sys.executable, "-c", "import os\nn = 0\nwhile got := os.read(0, 1 << 20): n += len(got)\nprint(n)"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert writer.stdout is not None
    assert counter.stdin is not None
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss

    with (tmp_path / "report").open("wb") as report:
        tool = subprocess.Popen(TOOL, stdin=writer.stdout, stdout=counter.stdin, stderr=report)
        writer.stdout.close()
        counter.stdin.close()
        counter.stdin = None
        _, status, usage = os.wait4(tool.pid, 0)
        tool.returncode = os.waitstatus_to_exitcode(status)
    counted, _ = counter.communicate(timeout=60)
    writer.wait(timeout=60)

    assert int(counted) == size
    assert tool.returncode == 0
    assert usage.ru_maxrss < 300 << 10, (usage.ru_maxrss, before)


def test_a_second_sigterm_does_not_disturb_the_report() -> None:
    process = start()
    reading(process, FAILED.read_bytes())

    assert process.stderr is not None
    while not select.select([process.stderr], [], [], 0.01)[0]:
        process.send_signal(signal.SIGTERM)
    said = process.stderr.read().decode()

    assert said.startswith("vllm-triage: failed: ")
    assert "Traceback" not in said
    assert process.wait(timeout=60) == 128 + signal.SIGTERM
    for stream in (process.stdin, process.stdout, process.stderr):
        assert stream is not None
        stream.close()


def test_a_terminal_that_is_closed_ends_it_with_a_report() -> None:
    process = start()
    reading(process, FAILED.read_bytes())

    process.send_signal(signal.SIGHUP)
    _, err = process.communicate(timeout=60)

    assert process.returncode == 128 + signal.SIGHUP
    assert CAUSE in err.decode()


def test_a_full_disk_under_both_streams_does_not_end_the_writer() -> None:
    """Its pipe stays open as long as it writes: no SIGPIPE."""
    with (
        open("/dev/full", "wb") as full,
        subprocess.Popen(TOOL, stdin=subprocess.PIPE, stdout=full, stderr=full, bufsize=0) as process,
    ):
        assert process.stdin
        for _ in range(20):
            process.stdin.write(b"INFO a line\n" * 10_000)  # more than a pipe holds: it has read the last one
        process.stdin.close()
        process.wait(60)
