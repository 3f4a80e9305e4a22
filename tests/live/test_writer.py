"""Who writes into a pipe, on a real /proc."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from vllm_triage.live.writer import find_writer, starts_vllm

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def test_the_process_that_writes_is_found_with_its_command_and_variables(tmp_path: Path) -> None:
    script = tmp_path / "vllm"
    script.write_text("import sys; sys.stdin.read()")
    words = [sys.executable, str(script), "serve", "demo"]
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


def test_a_vllm_is_preferred_among_several(tmp_path: Path) -> None:
    code = "import sys; sys.stdin.read()"
    script = tmp_path / "vllm"
    script.write_text(code)
    source, sink = os.pipe()
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=sink) as first, subprocess.Popen([sys.executable, str(script)], stdin=subprocess.PIPE, stdout=sink) as second:  # fmt: skip
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


@pytest.mark.parametrize(
    "command, is_vllm",
    [
        ("vllm serve demo", True),
        ("/opt/venv/bin/python3.12 /opt/venv/bin/vllm serve demo", True),
        ("python3 -u -m vllm.entrypoints.openai.api_server --model demo", True),
        ("docker logs -f vllm", False),
        ("kubectl logs vllm", False),
        ("cat /var/log/vllm", False),
        ("python3 app.py vllm", False),
        ("ssh host vllm serve demo", False),
        ("", False),
    ],
)
def test_only_a_server_s_own_process_is_one(command: str, is_vllm: bool) -> None:
    assert starts_vllm(command.split()) is is_vllm
