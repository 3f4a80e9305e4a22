"""The pipe with real processes: bytes in are bytes out, whatever happens around it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

TOOL = [sys.executable, "-m", "vllm_triage"]
FAILURE = b"ModuleNotFoundError: No module named 'no_such_module_here'\n"
READY = b"(APIServer pid=1) INFO 11-20 10:00:01 [api_server.py:1] vLLM API server version 0.11.0\n(APIServer pid=1) INFO:     Application startup complete.\n"


@contextmanager
def tool(*words: str, stdout: int = subprocess.PIPE) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [*TOOL, *words], stdin=subprocess.PIPE, stdout=stdout, stderr=subprocess.PIPE
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(log=st.binary(max_size=5000))
def test_any_bytes_go_through(log: bytes) -> None:
    done = subprocess.run(TOOL, input=log, capture_output=True, check=False)

    assert done.stdout == log
    assert done.returncode in {0, 1, 3}


def test_a_partial_line_is_passed_on_at_once() -> None:
    with tool() as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(b"Loading  10%")
        process.stdin.flush()

        assert os.read(process.stdout.fileno(), 100) == b"Loading  10%"


def test_sigterm_reports_what_has_come_so_far() -> None:
    with tool() as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(FAILURE)
        process.stdin.flush()
        os.read(process.stdout.fileno(), len(FAILURE))
        # The echo comes before the scan; the second line tells that the first was scanned.
        process.stdin.write(b"x\n")
        process.stdin.flush()
        os.read(process.stdout.fileno(), 2)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)

    assert b"python-module-missing" in said
    assert process.returncode == 128 + signal.SIGTERM


def test_a_copy_is_written(tmp_path: Path) -> None:
    log = os.urandom(300_000) + FAILURE
    done = subprocess.run(
        [*TOOL, "--no-echo", "--tee", str(tmp_path / "copy")], input=log, capture_output=True, check=False
    )

    assert (tmp_path / "copy").read_bytes() == log
    assert b"vllm-triage" in done.stdout


def test_a_copy_that_can_t_be_written_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    done = subprocess.run(
        [*TOOL, "--tee", str(tmp_path / "no" / "copy")], input=FAILURE, capture_output=True, check=False
    )

    assert done.returncode == 2
    assert str(tmp_path / "no" / "copy").encode() in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_ends_the_echo_and_not_the_triage() -> None:
    with open("/dev/full", "wb") as full, tool(stdout=full.fileno()) as process:
        _, said = process.communicate(FAILURE, timeout=60)

    assert b"python-module-missing" in said
    assert process.returncode == 1


@pytest.mark.parametrize("seed", range(4))
def test_a_reader_that_leaves_at_any_moment_does_not_end_the_triage(seed: int) -> None:
    random = Random(seed)
    with tool() as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(b"INFO: a line\n" * random.randrange(2, 4_000))
        os.read(process.stdout.fileno(), random.randrange(1, 20))
        process.stdout.close()
        process.stdin.write(FAILURE)
        process.stdin.close()
        assert process.stderr
        said = process.stderr.read()
        process.wait(timeout=60)

    assert b"python-module-missing" in said


def test_a_slow_reader_gets_everything() -> None:
    log = b"".join(b"INFO: line %d\n" % number for number in range(60_000)) + FAILURE
    with tool() as process:
        assert process.stdin
        assert process.stdout
        child = os.fork()
        if child == 0:
            os.write(process.stdin.fileno(), log[:10])
            rest = memoryview(log)[10:]
            while rest:
                rest = rest[os.write(process.stdin.fileno(), rest) :]
            os._exit(0)
        process.stdin.close()
        got = bytearray()
        while piece := os.read(process.stdout.fileno(), 700):
            got += piece
        os.waitpid(child, 0)

    assert bytes(got) == log


def test_memory_stays_flat_over_a_long_stream() -> None:
    """A gigabyte at the size that a test may take: what is kept does not grow with what comes."""
    piece = b"".join(b"INFO 11-20 10:00:%02d [loggers.py:1] Engine 000: Avg prompt throughput: %d tokens/s\n" % (n % 60, n) for n in range(10_000))  # fmt: skip
    sizes = []
    with tool("--no-echo") as process:
        assert process.stdin
        for round_ in range(120):
            process.stdin.write(piece)
            process.stdin.flush()
            if round_ in {60, 119}:
                status = Path(f"/proc/{process.pid}/status").read_text()
                sizes.append(int(status.partition("VmRSS:")[2].split()[0]))

    assert sizes[1] - sizes[0] < 8 * 1024


def test_readiness_is_announced_while_the_server_lives_on() -> None:
    with tool() as process:
        assert process.stdin
        assert process.stderr
        process.stdin.write(READY)
        process.stdin.flush()

        assert process.stderr.readline().startswith(b"vllm-triage: ready")


def test_a_machine_s_report_is_not_mixed_with_announcements() -> None:
    done = subprocess.run([*TOOL, "--format", "json"], input=READY, capture_output=True, check=False)

    assert done.stdout.startswith(b"{")
    assert done.stderr == b""
