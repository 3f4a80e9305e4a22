from __future__ import annotations

import gzip
import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vllm_triage.scan import LANDMARKS, LiteralIndex, Scan, ScannedLine, Scanner, index_of

from .logs import CARRIERS, LOG, to_bytes

INDEX = index_of(["needle"])


def _scan(data: bytes, step: int = 1 << 18, max_lines: int = 20_000) -> Scan:
    scanner = Scanner(INDEX, max_lines)
    for at in range(0, len(data), step):
        scanner.feed(data[at : at + step])
    return scanner.close()


def _lines(scan: Scan) -> list[ScannedLine]:
    return [line for region in scan.regions for line in region]


def test_a_plain_log_passes_unchanged() -> None:
    scan = _scan(to_bytes(LOG))
    assert scan == Scan((tuple(ScannedLine(*line) for line in enumerate(LOG, 1)),), len(LOG), (), "text")


@pytest.mark.parametrize(
    ("data", "total", "texts"),
    [(b"", 0, []), (b"a", 1, ["a"]), (b"a\n", 1, ["a"]), (b"a\nb", 2, ["a", "b"]), (b"\n\n", 2, ["", ""])],
)
def test_lines_are_counted_with_an_unfinished_last_one(data: bytes, total: int, texts: list[str]) -> None:
    scan = _scan(data)
    assert scan.total_lines == total
    assert [line.text for line in _lines(scan)] == texts


def test_numbers_of_gzip_and_utf_16_are_those_of_the_text() -> None:
    expected = _scan(to_bytes(LOG)).regions
    packed = _scan(gzip.compress(to_bytes(LOG)))
    wide = _scan(b"\xff\xfe" + "".join(line + "\r\n" for line in LOG).encode("utf-16-le"))
    assert (packed.regions, packed.carriers) == (expected, ("gzip",))
    assert (wide.regions, wide.carriers) == (expected, ("utf-16",))


def test_carriers_are_named_outermost_first() -> None:
    lines = CARRIERS["docker-json"](CARRIERS["kubectl-prefix"](LOG))
    assert _scan(gzip.compress(to_bytes(lines))).carriers == ("gzip", "docker-json", "kubectl-prefix")


def test_an_elf_file_is_binary_and_nothing_of_it_is_kept() -> None:
    assert _scan(b"\x7fELF\x02\x01\x01" + b"text\n" * 100) == Scan((), 0, (), "binary")


def test_noise_is_binary() -> None:
    assert _scan(random.Random(1).randbytes(50_000)).nature == "binary"


def test_a_snapshot_shows_the_unfinished_line_and_changes_nothing() -> None:
    data = to_bytes(CARRIERS["compose"](LOG))
    scanner = Scanner(INDEX)
    for at in range(0, len(data), 100):
        scanner.feed(data[at : at + 100])
        seen = scanner.snapshot()
        assert seen.total_lines == data[: at + 100].count(b"\n") + (not data[: at + 100].endswith(b"\n"))
        assert seen == _scan(data[: at + 100])
    assert scanner.close() == _scan(data)


def test_a_snapshot_of_the_first_bytes() -> None:
    scanner = Scanner()
    scanner.feed(b"Kil")
    assert _lines(scanner.snapshot()) == [ScannedLine(1, "Kil")]
    scanner.feed(b"led\n")
    assert _lines(scanner.close()) == [ScannedLine(1, "Killed")]


def test_closing_twice_gives_the_same() -> None:
    scanner = Scanner()
    scanner.feed("“é".encode()[:-1])
    assert scanner.close() == scanner.close()


# A long stream: quiet lines, and one that matters among them.
def _long(line: str, place: int = 15_000, total: int = 30_000) -> list[str]:
    return [line if number == place else f"INFO:     GET /health {number}" for number in range(1, total + 1)]


@pytest.mark.parametrize(
    "line", ["the needle", "(EngineCore pid=1) ERROR 11-20 10:00:00 [core.py:1] no literal"]
)
@pytest.mark.parametrize("carrier", ["none", "compose", "docker-json", "colour", "crlf"])
def test_a_literal_or_a_landmark_in_the_middle_of_a_long_stream_is_kept(carrier: str, line: str) -> None:
    lines = _long(line)
    carried = CARRIERS[carrier](lines) if carrier in CARRIERS else lines
    scan = _scan(to_bytes(carried), max_lines=2000)
    kept = _lines(scan)
    assert ScannedLine(15_000, line) in kept
    assert len(kept) <= 2000
    assert scan.total_lines == 30_000
    assert all(lines[at.number - 1] == at.text for at in kept)


def test_without_literals_the_landmarks_count() -> None:
    scanner = Scanner(max_lines=1000)
    scanner.feed(to_bytes(_long("Traceback (most recent call last):", 9000, 20_000)))
    assert any(line.number == 9000 for line in _lines(scanner.close()))


def test_landmarks_are_rare_in_a_healthy_log() -> None:
    healthy = [
        "(APIServer pid=1) INFO 11-20 10:00:00 [loggers.py:248] Engine 000: Avg prompt throughput: 410.1 tokens/s, "
        "Avg generation throughput: 31.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 1.0%",
        '(APIServer pid=1) INFO:     10.0.0.1:50110 - "POST /v1/chat/completions HTTP/1.1" 200 OK',
        '(APIServer pid=1) INFO:     10.0.0.1:50110 - "GET /metrics HTTP/1.1" 200 OK',
    ]
    assert LiteralIndex(LANDMARKS).lines_with(healthy) == {}


# What logs are made of, in any order: the parts that the layers, the fast paths and the framing look at.
_PARTS = st.sampled_from(
    [
        b"\n", b"\r\n", b"\r", b"\n\n", b"\0", b"\x1b[31m", b"\x1b[0m", b"[0m", b"```", b" ", b"\xff", b"\xc3", b"\xa9",
        b"vllm-1  | ", b"> ", b"0: ", b"12:", b"E   ", b"[vllm] ", b"stderr: ",
        b"2026-05-29T09:14:45.594Z ", b"2026-05-29T09:14:45.594Z stdout P ", b"2026-05-29T09:14:45.594Z stdout F ",
        b"(EngineCore pid=1) ", b"ERROR 11-20 10:00:00 [core.py:1] ", b"needle", b"text", b"50%|### | 1/2 [00:01",
        json.dumps({"log": "a\nneedle\n", "stream": "stderr", "time": "2026-05-29"}).encode(),
        json.dumps({"log": "x" * 5000, "stream": "stderr", "time": "2026-05-29"}).encode(),
        json.dumps({"message": "m\x1b[0m\rn", "levelname": "ERROR", "exc_info": "Traceback\nx"}).encode(),
        b'{"log": "cut', b"x" * 80,
    ]
)  # fmt: skip
_LOGS = st.lists(_PARTS, max_size=60).map(b"".join)


@settings(max_examples=200)
@given(
    data=_LOGS, steps=st.lists(st.integers(1, 40), max_size=50), max_lines=st.sampled_from([4, 12, 20_000])
)
def test_chunking_changes_nothing(data: bytes, steps: list[int], max_lines: int) -> None:
    scanner = Scanner(INDEX, max_lines)
    rest = data
    for step in steps:
        scanner.feed(rest[:step])
        rest = rest[step:]
    scanner.feed(rest)
    assert scanner.close() == _scan(data, max_lines=max_lines)


@settings(max_examples=50)
@given(head=_LOGS, body=_LOGS, step=st.integers(1, 200))
def test_chunking_changes_nothing_after_the_sample_either(head: bytes, body: bytes, step: int) -> None:
    data = head + b"\nplain line" * 2100 + b"\n" + body
    scanner = Scanner(INDEX, 400)
    scanner.feed(data[: len(head) + 23_000])
    for at in range(len(head) + 23_000, len(data), step):
        scanner.feed(data[at : at + step])
    assert scanner.close() == _scan(data, max_lines=400)


@settings(max_examples=200)
@given(data=st.one_of(_LOGS, st.binary(max_size=2000)))
def test_no_bytes_raise_and_numbers_point_into_the_input(data: bytes) -> None:
    scan = _scan(data)
    numbers = [line.number for line in _lines(scan)]
    assert numbers == sorted(numbers)
    assert all(1 <= number <= scan.total_lines for number in numbers)
    if not data.startswith((b"\x1f\x8b", b"\xff\xfe", b"\xfe\xff")) and scan.regions:
        assert scan.total_lines == data.count(b"\n") + (not data.endswith(b"\n"))


@pytest.mark.parametrize("carrier", ["compose", "docker-json", "kubectl-timestamps", "logger", "quote"])
def test_a_few_lines_that_look_carried_stay_as_they_are(carrier: str) -> None:
    lines = LOG * 4 + CARRIERS[carrier](["text of a plain log"] * 3)
    if carrier == "docker-json":  # records are undone always
        lines = lines[: len(LOG) * 4]
    assert [line.text for line in _lines(_scan(to_bytes(lines)))] == lines
