"""`run -- COMMAND` with real processes: output, status, signals and terminal are the command's own."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = [sys.executable, "-m", "vllm_triage", "run"]
FAILS = "print('ModuleNotFoundError: No module named \\'no_such_module_here\\''); raise SystemExit(3)"
SAYS_PORT = (
    "OSError: [Errno 98] error while attempting to bind on address ('0.0.0.0', 8000): address already in use"
)


def run(*words: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*TOOL, *options, "--", *words], capture_output=True, text=True, timeout=60, check=False
    )


def python(code: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    return run(sys.executable, "-c", code, options=options)


def test_the_output_goes_through_and_the_report_to_stderr() -> None:
    done = python(FAILS)

    assert done.stdout == "ModuleNotFoundError: No module named 'no_such_module_here'\n"
    assert "python-module-missing" in done.stderr
    assert done.returncode == 3


def test_standard_error_is_part_of_the_log() -> None:
    done = python("import sys; print('one'); sys.stdout.flush(); print('two', file=sys.stderr)")

    assert done.stdout == "one\ntwo\n"
    assert (done.stderr, done.returncode) == ("", 0)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGABRT])
def test_a_command_that_a_signal_ends_ends_us_with_it(number: signal.Signals) -> None:
    done = python(f"import os; print('vllm', flush=True); os.kill(os.getpid(), {int(number)})")

    assert done.returncode == -number


def test_a_kill_without_a_word_may_be_the_kernel_s() -> None:
    done = python("import os; print('INFO 11-20 10:00:01 [api_server.py:1] vLLM API server version 0.11.0', flush=True); os.kill(os.getpid(), 9)", options=("--no-probe",))  # fmt: skip

    assert "host-oom-killed" in done.stderr


@pytest.mark.parametrize("options, status", [(("--exit-code-map",), 78), (("--exit-code-map=change=5,retry=6",), 5), (("--exit-code-map=retry=6",), 3)])  # fmt: skip
def test_the_status_can_tell_what_would_help(options: tuple[str, ...], status: int) -> None:
    assert python(FAILS, options=options).returncode == status


def test_a_failure_that_ends_with_0_has_a_status_of_its_own() -> None:
    code = FAILS.replace("SystemExit(3)", "SystemExit(0)")

    assert (python(code).returncode, python(code, options=("--exit-code-map",)).returncode) == (0, 78)


@pytest.mark.parametrize("text", ["x=1", "retry=0", "retry=200", "retry", ""])
def test_a_map_that_is_none_is_refused(text: str) -> None:
    done = python("", options=(f"--exit-code-map={text}",))

    assert done.returncode == 2
    assert "retry" in done.stderr


def test_the_event_for_kubernetes_fits_and_holds_no_secret(tmp_path: Path) -> None:
    log = tmp_path / "termination-log"
    secret = "hf_" + "A1b2" * 8
    code = f"print('HF_TOKEN={secret} ' + 'x' * 9000); print({SAYS_PORT!r}); raise SystemExit(1)"

    python(code, options=("--termination-log", str(log)))

    text = log.read_text()
    event = json.loads(text)
    assert len(text.encode()) <= 4096
    assert (event["rule"], event["exit_status"], event["line"]) == ("port-in-use", 1, 2)
    assert secret not in text


@pytest.mark.parametrize("words, status", [((), 2), (("/no/such/program",), 127)])
def test_what_can_t_be_started_is_said(words: tuple[str, ...], status: int) -> None:
    done = run(*words)

    assert done.returncode == status
    assert done.stderr.startswith("vllm-triage: run: ")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_reaches_the_whole_group(number: signal.Signals) -> None:
    code = f"""
import os, signal, sys, time
child = os.fork()
def stop(number, frame):
    os.write(1, b"%s got %d\\n" % (b"child" if child == 0 else b"parent", number))
    if child: os.waitpid(child, 0)
    os._exit(7)
signal.signal({int(number)}, stop)
os.write(1, b"up\\n")
while True: signal.pause()
"""
    with subprocess.Popen([*TOOL, "--", sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:  # fmt: skip
        assert process.stdout
        assert [process.stdout.readline() for _ in range(2)] == ["up\n", "up\n"]
        process.send_signal(number)
        out, _ = process.communicate(timeout=60)

    assert sorted(out.splitlines()) == [f"child got {int(number)}", f"parent got {int(number)}"]
    assert process.returncode == 7


def test_a_grandchild_that_keeps_the_output_open_does_not_keep_us() -> None:
    code = "import os, time\nif os.fork() == 0: time.sleep(300)\nprint('done', flush=True); os._exit(4)"

    assert python(code).returncode == 4


def test_in_a_terminal_the_command_has_one_of_the_same_size() -> None:
    code = "import os, sys; print(sys.stdout.isatty(), tuple(os.get_terminal_size()), flush=True)"
    ours, its = pty.openpty()
    import fcntl
    import struct
    import termios

    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 97, 0, 0))
    with subprocess.Popen(
        [*TOOL, "--", sys.executable, "-c", code], stdin=its, stdout=its, stderr=its
    ) as process:
        os.close(its)
        said = b""
        while b"\n" not in said and select.select([ours], [], [], 60)[0]:
            said += os.read(ours, 1000)
        process.wait(timeout=60)
    os.close(ours)

    assert said == b"True (97, 30)\r\n"
