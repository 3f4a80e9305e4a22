"""Who writes into a pipe, on a real /proc."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from vllm_triage.live.writer import find_writer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def test_the_process_that_writes_is_found_with_its_command_and_variables() -> None:
    words = [sys.executable, "-c", "import sys; sys.stdin.read()", "vllm", "serve"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "VLLM_MARK": "s3cret"}, cwd="/") as process:  # fmt: skip
        assert process.stdout
        writer = find_writer(process.stdout.fileno())
        process.communicate()

    assert writer
    assert writer.pid == process.pid
    assert list(writer.origin.argv) == words
    assert writer.origin.variables["VLLM_MARK"] == "s3cret"
    assert writer.origin.folder == "/"
    assert writer.here
    assert writer.is_vllm
    assert "s3cret" not in repr(writer)


def test_a_vllm_is_preferred_among_several() -> None:
    code = "import sys; sys.stdin.read()"
    source, sink = os.pipe()
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=sink) as first, subprocess.Popen([sys.executable, "-c", code, "vllm"], stdin=subprocess.PIPE, stdout=sink) as second:  # fmt: skip
        writer = find_writer(source)
        for process in (first, second):
            process.communicate()

    assert writer
    assert writer.pid == second.pid
    os.close(source)
    os.close(sink)


def test_a_pipe_without_a_writer_has_none() -> None:
    source, sink = os.pipe()
    os.close(sink)

    assert find_writer(source) is None
    os.close(source)
