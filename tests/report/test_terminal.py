from __future__ import annotations

import io
import os
import struct

import pytest

from vllm_triage.report import Report
from vllm_triage.report.terminal import surface_of
from vllm_triage.report.text import render, write


class Terminal(io.TextIOWrapper):
    """A file that says it is a terminal and remembers what was written."""

    def __init__(self, encoding: str) -> None:
        super().__init__(io.BytesIO(), encoding=encoding, write_through=True)

    def isatty(self) -> bool:
        return True

    @property
    def shown(self) -> str:
        return self.buffer.getvalue().decode(self.encoding)  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")


def test_a_terminal_gets_colours_and_the_same_words(failed: Report) -> None:
    terminal = Terminal("utf-8")

    write(failed, terminal)

    assert "\x1b[" in terminal.shown
    assert "│ ValueError" in terminal.shown


def test_a_terminal_without_the_characters_gets_ascii(failed: Report) -> None:
    terminal = Terminal("ascii")

    write(failed, terminal)

    assert "| ValueError" in terminal.shown


@pytest.mark.parametrize("name, value", [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colours_can_be_refused(
    failed: Report, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    terminal = Terminal("utf-8")

    write(failed, terminal)

    assert terminal.shown == render(failed)


def test_a_file_gets_plain_text_whatever_its_encoding(failed: Report) -> None:
    told = failed.model_copy(
        update={"diagnoses": (failed.diagnoses[0].model_copy(update={"title": "größer"}),)}
    )
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")

    write(told, file)

    file.seek(0)
    assert "gr??er" in file.read()


def test_the_width_is_that_of_the_terminal_written_to(
    failed: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    pty = pytest.importorskip("pty")
    termios = pytest.importorskip("termios")
    monkeypatch.delenv("COLUMNS")
    leader, follower = pty.openpty()
    fcntl = pytest.importorskip("fcntl")
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 132, 0, 0))

    with open(follower, "w", encoding="utf-8") as file:
        assert surface_of(file).columns == 132
    os.close(leader)
