from __future__ import annotations

import random

import pytest

from vllm_triage.scan.nature import TextGauge

NOISE = random.Random(3).randbytes(100_000)


@pytest.mark.parametrize(
    ("data", "nature"),
    [
        (b"", "empty"),
        (b" \n\t\r\n ", "empty"),
        (b"Killed\n", "text"),
        ("läuft ✔ “ja”\n".encode(), "text"),
        ("Datei für Schlüssel nicht gefunden: größe.json\n".encode("latin-1"), "text"),
        (b"\0" * 500_000, "binary"),
        (b"\0" * 500_000 + b"ERROR after the file was truncated under its writer\n", "text"),
        ("without a mark\n".encode("utf-16-le"), "text"),
        (NOISE, "binary"),
        (NOISE.replace(b"\n", b""), "binary"),
        (b"a log\n" * 20_000 + NOISE, "text"),
    ],
)
def test_nature(data: bytes, nature: str) -> None:
    gauge = TextGauge()
    for at in range(0, len(data), 7000):
        gauge.push(data[at : at + 7000])
    assert gauge.nature == nature
