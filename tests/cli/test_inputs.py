from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from vllm_triage.cli.inputs import InputError, find_files


def test_a_folder_stands_for_its_logs_in_order(tmp_path: Path) -> None:
    for name in ("b.log", "a.txt", "c.out", "d.py", "e.log.1"):
        (tmp_path / name).write_text("text")
    (tmp_path / "f.gz").write_bytes(gzip.compress(b"text"))
    (tmp_path / "sub.log").mkdir()

    assert [path.name for path in find_files([str(tmp_path)])] == ["a.txt", "b.log", "c.out", "f.gz"]


@pytest.mark.parametrize(
    "content, what",
    [
        (b"\x7fELF\x02\x01\x01\x00", "a program"),
        (b"PK\x03\x04abc", "a zip archive"),
        (b"\xfd7zXZ\x00abc", "compressed with xz"),
        (b"\x28\xb5\x2f\xfdabc", "compressed with zstd"),
        (b"%PDF-1.7", "a PDF"),
        (bytes(257) + b"ustar", "a tar archive"),
        (bytes(range(256)) * 8, "binary data"),
    ],
)
def test_what_is_no_log_is_named_in_one_line(tmp_path: Path, content: bytes, what: str) -> None:
    file = tmp_path / "thing"
    file.write_bytes(content)

    with pytest.raises(InputError) as error:
        find_files([str(file)])

    assert str(error.value).startswith(f"{file}: {what}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"INFO text\n",
        "größer █\n".encode(),
        "INFO\n".encode("utf-16"),
        b"\x00" * 5000 + b"after truncation\n",
        gzip.compress(b"text"),
        b"\x1b[31mred\x1b[0m\n",
    ],
    ids=["empty", "text", "utf-8", "utf-16", "nul bytes", "gzip", "colours"],
)
def test_what_may_be_a_log_is_taken(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "crash"
    file.write_bytes(content)

    assert find_files([str(file)]) == [file]


def test_standard_input_stands_alone(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give it alone"):
        find_files(["-", str(tmp_path)])


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        find_files([str(tmp_path / "crash.log")])


def test_a_folder_without_logs_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a folder without"):
        find_files([str(tmp_path)])


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_said(tmp_path: Path) -> None:
    file = tmp_path / "crash.log"
    file.write_text("text")
    file.chmod(0)

    with pytest.raises(InputError, match="not readable"):
        find_files([str(file)])


def test_the_start_of_a_pipe_is_not_taken_away(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)

    assert find_files([str(fifo)]) == [fifo]
