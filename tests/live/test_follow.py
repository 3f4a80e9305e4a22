"""A growing file: rotated, cut, not there yet."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vllm_triage.live.follow import followed


def read(path: Path, steps: list[Callable[[], object]]) -> bytes:
    """All that is read while the steps are taken, one whenever there is nothing to read."""
    bell, rope = os.pipe()
    os.write(rope, b"!" * 5_000)  # it rings all the time: nothing is waited for
    pieces, left = [], iter(steps)
    for piece in followed(path, bell):
        pieces.append(piece)
        if not piece:
            step = next(left, None)
            if step is None:
                break
            step()
    os.close(bell)
    os.close(rope)
    return b"".join(pieces)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "server.log"
    path.write_text("one\n")
    return path


def append(path: Path, text: str) -> Callable[[], object]:
    def write() -> None:
        with path.open("a") as file:
            file.write(text)

    return write


def test_what_is_appended_is_read(log: Path) -> None:
    assert read(log, [append(log, "two\n"), append(log, "three")]) == b"one\ntwo\nthree"


def test_a_rotated_file_is_read_to_its_end_and_then_the_new_one(log: Path) -> None:
    def rotate() -> None:
        with log.open("a") as old:
            old.write("rest\n")
        log.rename(log.with_suffix(".1"))
        log.write_text("new\n")

    assert read(log, [rotate]) == b"one\nrest\nnew\n"


def test_a_name_that_is_gone_for_a_while_may_come_back(log: Path) -> None:
    assert read(log, [log.unlink, lambda: None, append(log, "new\n")]) == b"one\nnew\n"


def test_a_file_that_was_cut_is_read_from_its_beginning(log: Path) -> None:
    assert read(log, [lambda: log.write_text(""), append(log, "new\n")]) == b"one\nnew\n"


def test_a_file_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "later.log"

    assert read(path, [lambda: None, append(path, "one\n")]) == b"one\n"


def test_what_was_written_between_the_end_and_the_rotation_is_read(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stat, rotated = os.stat, list[Path]()

    def rotates_first(path: str | Path, **how: Any) -> os.stat_result:
        if path == log and not rotated:
            rotated.append(log)
            append(log, "last words\n")()
            log.rename(log.with_suffix(".1"))
            log.write_text("new\n")
        return stat(path, **how)

    monkeypatch.setattr("vllm_triage.live.follow.os.stat", rotates_first)

    assert read(log, [lambda: None, lambda: None]) == b"one\nlast words\nnew\n"
