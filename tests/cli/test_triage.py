from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from vllm_triage import __version__
from vllm_triage.cli import main
from vllm_triage.pipeline import Triager

LOGS = Path(__file__).parent.parent / "fixtures" / "logs"
FAILED = LOGS / "batched-tokens-below.log"
CAUSE = "batched-tokens-below-max-len"
HEALTHY = LOGS / "healthy-eager.log"
TOOL = [sys.executable, "-m", "vllm_triage"]


def tool(*words: str, given: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    """The tool as a process of its own, with a pipe as standard input if anything is given."""
    stdin = {"input": given} if given is not None else {"stdin": subprocess.DEVNULL}
    return subprocess.run([*TOOL, *words], capture_output=True, timeout=60, check=False, **stdin)  # type: ignore[call-overload, no-any-return]


@pytest.fixture
def unknown(tmp_path: Path) -> Path:
    log = tmp_path / "unknown.log"
    log.write_text(
        "INFO 10-02 09:14:40 [api_server.py:1896] vLLM API server version 0.11.0\n"
        "ERROR 10-02 09:14:45 [core.py:708] Traceback (most recent call last):\n"
        'ERROR 10-02 09:14:45 [core.py:708]   File "/opt/app/plugin.py", line 3, in load\n'
        "ERROR 10-02 09:14:45 [core.py:708] quux.FlurbError: the flurb is not gnarled\n"
    )
    return log


def test_a_known_failure_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(FAILED)]) == 1
    assert f"failed: {CAUSE}" in capsys.readouterr().out


def test_a_healthy_log_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(HEALTHY)]) == 0
    assert capsys.readouterr().out.count("\n") == 1


def test_an_unknown_failure_has_its_own_status(unknown: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(unknown)]) == 3
    assert "the flurb is not gnarled" in capsys.readouterr().out


def test_an_empty_file_is_inconclusive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "crash.log"
    empty.touch()

    assert main([str(empty)]) == 0
    assert "The log is empty" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ["no-such-file.log"],
        ["--no-such-option"],
        ["--format", "xml"],
        ["explain", "no-such-rule"],
        ["explain"],
    ],
)
def test_wrong_use_has_status_2_and_one_clear_word(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "vllm-triage" in told.err
    assert "Traceback" not in told.err


def test_json_is_that_of_the_library(capsys: pytest.CaptureFixture[str]) -> None:
    main([str(FAILED), "--format", "json"])

    assert capsys.readouterr().out == Triager().triage(FAILED).model_dump_json() + "\n"


def test_jsonl_gives_one_report_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(HEALTHY), str(FAILED), "--format", "jsonl"]) == 1

    assert [json.loads(line)["verdict"] for line in capsys.readouterr().out.splitlines()] == [
        "healthy",
        "failed",
    ]


def test_a_folder_and_several_files_are_one_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(FAILED, tmp_path / "rank0.log")
    (tmp_path / "rank1.log").write_text("INFO 10-02 09:14:40 [api_server.py:1896] hello\n")

    main([str(tmp_path), "--format", "json"])

    assert capsys.readouterr().out.count("\n") == 1


def test_quiet_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    main([str(FAILED), "-q"])

    assert capsys.readouterr().out.count("\n") == 1


def test_the_report_goes_into_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "report.txt"

    assert main([str(FAILED), "-o", str(out)]) == 1
    assert CAUSE in out.read_text()
    assert capsys.readouterr().out == ""


def test_the_log_is_not_overwritten_by_its_report(tmp_path: Path) -> None:
    log = tmp_path / "crash.log"
    shutil.copy(FAILED, log)

    assert main([str(log), "-o", str(log)]) == 2
    assert log.read_bytes() == FAILED.read_bytes()


def test_debug_says_which_signature_hit(capsys: pytest.CaptureFixture[str]) -> None:
    main([str(FAILED), "--debug"])

    assert f"{CAUSE}/" in capsys.readouterr().err


def test_broken_rules_of_the_user_are_said_and_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.yaml").write_text("id: mine\nnonsense: 1\n")

    assert main([str(FAILED), "--rules", str(tmp_path)]) == 1
    told = capsys.readouterr()
    assert "mine.yaml:" in told.err
    assert "built-in" in told.err
    assert CAUSE in told.out


def test_an_error_of_ours_is_short_and_has_status_4(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*args: object) -> None:
        raise RuntimeError("oops hf_" + "abcdefghijklmnopqrstuv")

    monkeypatch.setattr(Triager, "triage", fail)

    assert main([str(FAILED)]) == 4
    told = capsys.readouterr().err
    assert "RuntimeError: oops [redacted:hub-token]" in told
    assert __version__ in told
    assert "Traceback" not in told


def test_debug_shows_the_traceback_of_an_error_of_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*args: object) -> None:
        raise RuntimeError("oops")

    monkeypatch.setattr(Triager, "outcome", fail)

    assert main([str(FAILED), "--debug"]) == 4
    assert "Traceback" in capsys.readouterr().err


def test_the_version_loads_nothing_heavy() -> None:
    code = "import sys; from vllm_triage.cli import main; main(['--version']); print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert loaded.startswith(f"vllm-triage {__version__}\n")
    assert not {"pydantic", "yaml", "rich", "regex", "rapidfuzz", "argparse"} & set(loaded.split())


def test_a_pipe_is_passed_through_and_reported_on_stderr() -> None:
    log = FAILED.read_bytes()

    done = tool(given=log)

    assert done.returncode == 1
    assert done.stdout == log
    assert CAUSE in done.stderr.decode()


@pytest.mark.parametrize(
    "words, out, err",
    [
        (["--no-echo"], "report", ""),
        (["-"], "report", ""),
        (["--format", "json"], "json", ""),
        (["--format", "json", "--echo"], "json", "log"),
        (["-q"], "log", "report"),
    ],
)
def test_where_report_and_echo_go(words: list[str], out: str, err: str) -> None:
    log = FAILED.read_bytes()

    done = tool(*words, given=log)

    def kind(data: bytes) -> str:
        if data.startswith(b"{"):
            return "json"
        return "log" if data == log else "report" if CAUSE.encode() in data else data.decode()

    assert (kind(done.stdout), kind(done.stderr)) == (out, err)


def test_a_redirected_file_is_no_pipe() -> None:
    with FAILED.open("rb") as file:
        done = subprocess.run(TOOL, stdin=file, capture_output=True, timeout=60, check=False)

    assert done.stdout.startswith(b"vllm-triage: failed")


def test_a_closed_reader_does_not_end_the_triage() -> None:
    out, into = os.pipe()
    os.close(out)

    done = subprocess.run(
        TOOL, input=FAILED.read_bytes(), stdout=into, stderr=subprocess.PIPE, timeout=60, check=False
    )
    os.close(into)

    assert done.returncode == 1
    assert CAUSE in done.stderr.decode()


def test_interrupts_do_not_lose_the_tail() -> None:
    log = FAILED.read_bytes()
    process = subprocess.Popen(TOOL, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(log[:1000])
    process.stdin.flush()
    assert process.stdout.read(1000) == log[:1000]  # it is reading: the signal meets the pump

    process.send_signal(signal.SIGINT)
    out, err = process.communicate(log[1000:], timeout=60)

    assert process.returncode == 1
    assert out == log[1000:]
    assert CAUSE in err.decode()


def test_a_reader_of_the_report_may_leave() -> None:
    out, into = os.pipe()
    os.close(out)

    done = subprocess.run([*TOOL, str(FAILED)], stdout=into, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(into)

    assert done.returncode == 141
    assert done.stderr == b""


def test_a_terminal_without_a_file_gets_help() -> None:
    pty = pytest.importorskip("pty")
    leader, follower = pty.openpty()

    done = subprocess.run(TOOL, stdin=follower, capture_output=True, timeout=60, check=False)
    os.close(leader)
    os.close(follower)

    assert done.returncode == 2
    assert b"usage: vllm-triage" in done.stderr


def test_a_report_for_people_loads_no_more_than_it_needs() -> None:
    code = (
        f"import sys; from vllm_triage.cli import main; main([{str(FAILED)!r}]); print(*sorted(sys.modules))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert CAUSE in loaded
    # The catalog is compiled in a wheel and cached in a checkout: neither is validated again.
    assert not {"pydantic", "rich", "rapidfuzz", "pynvml", "psutil"} & set(loaded.split())
