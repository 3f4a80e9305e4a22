"""How `run` and its command end, and what they do in a terminal or as pid 1: all with real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from vllm_triage.cli import main
from vllm_triage.live.session import Session

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX system")

LOGS = Path(__file__).parent.parent / "fixtures" / "logs"
FAILED = LOGS / "batched-tokens-below.log"
CAUSE = "batched-tokens-below-max-len"
TOOL = [sys.executable, "-m", "vllm_triage", "run", "--no-probe"]
STARTED = "vLLM API server version 0.11.0"
# A command that says a line once it can be told something, then waits.
LISTENER = f"""
import signal, sys, time
def told(number, frame):
    print("told", signal.Signals(number).name, flush=True)
    if number in (signal.SIGTERM, signal.SIGINT):
        sys.exit(3)
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
    signal.signal(number, told)
print("INFO 10-02 09:14:40 [api_server.py:1896] {STARTED}", flush=True)
while True:
    time.sleep(60)
"""


def run(*words: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*TOOL, *options, "--", *words], capture_output=True, text=True, timeout=60, check=False
    )


def shell(script: str, *options: str) -> subprocess.CompletedProcess[str]:
    return run("sh", "-c", script, options=options)


@pytest.fixture
def listener() -> Iterator[subprocess.Popen[bytes]]:
    """The wrapper around LISTENER, which listens by now."""
    process = subprocess.Popen(
        [*TOOL, "--", sys.executable, "-c", LISTENER], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert STARTED.encode() in process.stdout.readline()
    yield process
    process.kill()
    process.communicate()


def test_both_streams_of_the_command_are_one_log_in_order() -> None:
    done = shell("for i in 1 2 3; do echo out $i; echo err $i >&2; done")

    assert done.stdout.split("\n")[:6] == [f"{name} {i}" for i in (1, 2, 3) for name in ("out", "err")]


@pytest.mark.parametrize("status", [0, 1, 3, 126, 255])
def test_the_exit_status_is_kept(status: int) -> None:
    assert shell(f"exit {status}").returncode == status


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGINT])
def test_it_ends_by_the_signal_that_ended_the_command(number: signal.Signals) -> None:
    assert shell(f"kill -{number.value} $$").returncode == -number


def test_arguments_reach_the_command_as_they_are() -> None:
    words = ["a b", "--format", "-q", "", "--", "$HOME", "\udcff"]
    code = "import sys; print(ascii(sys.argv[1:]))"

    assert run(sys.executable, "-c", code, *words).stdout.strip() == ascii(words)


def test_the_command_reads_our_standard_input() -> None:
    done = subprocess.run([*TOOL, "--", "cat"], input=b"yes\n", capture_output=True, timeout=60, check=False)

    assert done.stdout == b"yes\n"


@pytest.mark.parametrize("words, status", [(["/no/such/program"], 127), ([str(FAILED)], 126), ([], 2)])
def test_what_cannot_be_run_is_told(words: list[str], status: int) -> None:
    done = run(*words)

    assert done.returncode == status
    assert done.stderr.startswith("vllm-triage: run: ")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_request_to_stop_reaches_the_command_once(
    listener: subprocess.Popen[bytes], number: signal.Signals
) -> None:
    listener.send_signal(number)
    out, err = listener.communicate(timeout=60)

    assert out.decode() == f"told {number.name}\n"
    assert b"stopped-from-outside" in err
    assert listener.returncode == 3


def test_other_signals_are_passed_on_and_end_nothing(listener: subprocess.Popen[bytes]) -> None:
    assert listener.stdout is not None
    listener.send_signal(signal.SIGUSR1)
    assert listener.stdout.readline() == b"told SIGUSR1\n"
    listener.send_signal(signal.SIGHUP)
    assert listener.stdout.readline() == b"told SIGHUP\n"


def test_the_whole_group_gets_the_signal() -> None:
    script = "trap 'echo parent; wait; exit 0' TERM; sh -c 'trap \"echo child; exit\" TERM; echo ready; while :; do sleep 0.05; done' & wait"
    process = subprocess.Popen(
        [*TOOL, "--", "sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"

    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=60)

    assert {b"child", b"parent"} <= set(out.split(b"\n"))


def test_workers_that_never_exit_do_not_hold_the_report(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    done = shell(f"cat {FAILED}; sleep 1000 & echo $! > {pid}; exit 1")
    os.kill(int(pid.read_text()), signal.SIGKILL)

    assert done.returncode == 1
    assert CAUSE in done.stderr
    assert "processes of the command live on" in done.stderr


@pytest.mark.parametrize(
    "log, status, options, mapped",
    [
        (FAILED, 1, ["--exit-code-map"], 78),
        (FAILED, 0, ["--exit-code-map"], 78),
        (FAILED, 1, ["--exit-code-map", "change=7"], 7),
        (LOGS / "healthy-eager.log", 0, ["--exit-code-map"], 0),
        ("/dev/null", 5, ["--exit-code-map"], 5),
        (FAILED, 5, [], 5),
    ],
)
def test_statuses_by_whether_starting_again_helps(
    log: Path | str, status: int, options: list[str], mapped: int
) -> None:
    assert shell(f"cat {log}; exit {status}", *options).returncode == mapped


def test_a_healthy_end_leaves_no_termination_message(tmp_path: Path) -> None:
    log = tmp_path / "termination-log"

    shell(f"cat {LOGS / 'healthy-eager.log'}", "--termination-log", str(log))

    assert not log.exists()


def in_terminal(script: str, rows: int = 24, columns: int = 80) -> bytes:
    """What stands on a terminal of this size after the wrapper has run a script in it."""
    import fcntl
    import struct
    import termios

    leader, follower = os.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen(
        [*TOOL, "--", "sh", "-c", script], stdin=subprocess.DEVNULL, stdout=follower, stderr=follower
    )
    os.close(follower)
    shown = bytearray()
    try:
        while piece := os.read(leader, 4096):
            shown += piece
    except OSError:
        pass  # the other side is closed
    os.close(leader)
    process.wait(timeout=60)
    return bytes(shown)


def test_no_byte_is_changed_on_the_way_through_the_terminal() -> None:
    shown = in_terminal(r"printf '\033[32mgreen\033[0m\r 10%%\r 20%%\ttab\n'")

    assert shown.startswith(b"\x1b[32mgreen\x1b[0m\r 10%\r 20%\ttab\r\n")


def test_a_new_size_reaches_the_command() -> None:
    import fcntl
    import struct
    import termios

    leader, follower = os.openpty()
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGWINCH, lambda *_: (print('size', *os.get_terminal_size(1)), sys.exit()))\n"
        "print('go', flush=True)\n"
        "while True: signal.pause()"
    )
    process = subprocess.Popen(
        [*TOOL, "--", sys.executable, "-c", code], stdin=subprocess.DEVNULL, stdout=follower, stderr=follower
    )
    shown = b""
    while b"go" not in shown:
        shown += os.read(leader, 100)
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 132, 0, 0))
    process.send_signal(signal.SIGWINCH)
    while b"size" not in shown or not shown.endswith(b"\n"):
        shown += os.read(leader, 100)
    os.close(follower)
    os.close(leader)
    process.wait(timeout=60)

    assert b"size 132 50" in shown


def test_the_last_screen_of_a_small_terminal_holds_the_first_remedy() -> None:
    shown = in_terminal(f"cat {FAILED}").decode()

    assert "What to do" in "\n".join(shown.splitlines()[-23:])


@pytest.mark.parametrize("seed", range(6))
def test_a_stop_at_any_moment_leaves_nothing_behind(seed: int) -> None:
    process = subprocess.Popen(
        [*TOOL, "--", "sh", "-c", f"while :; do cat {FAILED}; done"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.stdout is not None
    process.stdout.read(1 + 7919 * seed)

    process.send_signal(signal.SIGTERM)
    while process.stdout.read(1 << 16):
        pass

    assert process.wait(timeout=60) == -signal.SIGTERM
    process.stdout.close()


@pytest.mark.skipif(
    sys.platform != "linux"
    or subprocess.run(["unshare", "-rpf", "true"], capture_output=True).returncode != 0,
    reason="needs a pid namespace",
)
def test_as_pid_1_it_passes_signals_on_and_reaps_orphans(tmp_path: Path) -> None:
    # The orphan's parent is gone: pid 1 inherits it, and as a zombie it would stay in /proc.
    pid = tmp_path / "pid"
    script = (
        f"trap 'echo told; exit 0' TERM; (sleep 0.1 & echo $! > {pid}); "
        f"while [ -e /proc/$(cat {pid}) ]; do sleep 0.05; done; echo buried; while :; do sleep 0.05; done"
    )
    process = subprocess.Popen(
        ["unshare", "-rpf", "--mount-proc", "--kill-child", *TOOL, "--", "sh", "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"buried\n"

    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(children[0]), signal.SIGTERM)
    out, _ = process.communicate(timeout=60)

    assert b"told" in out.split(b"\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_under_both_streams_ends_neither_the_command_nor_its_status(tmp_path: Path) -> None:
    script = f"cat {FAILED}; cat {FAILED}; echo lives > {tmp_path}/sign; exit 9"
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*TOOL, "--", "sh", "-c", script], stdout=full, stderr=full, timeout=60, check=False
        )

    assert done.returncode == 9
    assert (tmp_path / "sign").read_text() == "lives\n"


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_change_nothing_about_the_status(closed: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    command = f"cat {FAILED}; echo to standard error >&2; exit 9"
    line = f"exec {' '.join(TOOL)} --tee {copy} -- sh -c '{command}' {closed}"
    done = subprocess.run(["sh", "-c", line], capture_output=True, timeout=60, check=False)

    assert done.returncode == 9
    assert copy.read_bytes() == FAILED.read_bytes() + b"to standard error\n"


def test_an_error_of_ours_keeps_the_status_of_the_command(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(session: Session, piece: bytes) -> None:
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr(Session, "feed", broken)

    assert main(["run", "--", "sh", "-c", "echo one; echo two; exit 7"]) == 7
    said = capfd.readouterr()
    assert said.out == "one\ntwo\n"
    assert "broken on purpose" in said.err


@pytest.mark.parametrize("option", [("-o", "/no/such/folder/report"), ("--facts", "/no/such/facts.json")])
def test_what_could_not_be_used_at_the_end_is_refused_before_the_start(option: tuple[str, str]) -> None:
    done = shell("echo started", *option)

    assert (done.stdout, done.returncode) == ("", 2)
    assert option[1] in done.stderr
