from __future__ import annotations

import gzip
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vllm_triage.scan.decoding import Decoder

TEXT = "".join(f"line {number}: Größe “ok”\n" for number in range(3000))


def _decode(data: bytes, step: int = 1000) -> tuple[bytes, Decoder]:
    decoder = Decoder()
    out = b"".join(part for at in range(0, len(data), step) for part in decoder.push(data[at : at + step]))
    return out + b"".join(decoder.finish()), decoder


@pytest.mark.parametrize("step", [1, 3, 1000, 10**7])
@pytest.mark.parametrize(
    ("encode", "names"),
    [
        (lambda text: text.encode(), []),
        (lambda text: b"\xef\xbb\xbf" + text.encode(), []),
        (lambda text: b"\xff\xfe" + text.encode("utf-16-le"), ["utf-16"]),
        (lambda text: b"\xfe\xff" + text.encode("utf-16-be"), ["utf-16"]),
        (lambda text: gzip.compress(text.encode()), ["gzip"]),
        (lambda text: gzip.compress(text[:5000].encode()) + gzip.compress(text[5000:].encode()), ["gzip"]),
        (lambda text: gzip.compress(b"\xff\xfe" + text.encode("utf-16-le")), ["gzip", "utf-16"]),
    ],
    ids=["utf-8", "utf-8 with mark", "utf-16-le", "utf-16-be", "gzip", "two gzip members", "gzip of utf-16"],
)
def test_text_comes_out(encode, names: list[str], step: int) -> None:  # type: ignore[no-untyped-def]
    out, decoder = _decode(encode(TEXT), step)
    assert out.decode() == TEXT
    assert decoder.names == names
    assert not decoder.binary


def test_a_short_file_is_known_in_the_end() -> None:
    out, decoder = _decode(gzip.compress(b"\xff\xfe" + "ab".encode("utf-16-le")))
    assert out == b"ab"
    assert decoder.names == ["gzip", "utf-16"]
    assert _decode(gzip.compress(b"\x7fELF"))[1].binary


@pytest.mark.parametrize("step", [1, 7, 10**6])
def test_a_truncated_or_damaged_gzip_gives_what_comes_before(step: int) -> None:
    packed = gzip.compress(TEXT.encode())
    out, _ = _decode(packed[: len(packed) // 2], step)
    assert len(out) > 1000
    assert TEXT.encode().startswith(out)
    damaged, _ = _decode(packed[:-8] + b"\0" * 8, step)
    assert damaged == TEXT.encode()


def test_what_only_begins_like_gzip_is_binary() -> None:
    out, decoder = _decode(b"\x1f\x8bno gzip at all")
    assert out == b""
    assert decoder.binary


def test_a_bomb_is_inflated_in_pieces() -> None:
    decoder = Decoder()
    packed = gzip.compress(b"\0" * 50_000_000)
    largest = max(len(part) for part in islice(decoder.push(packed), 20))
    assert largest <= 1 << 18


@pytest.mark.parametrize("start", [b"\x7fELF\x02", b"PK\x03\x04\x14", b"\x89PNG\r\n", b"%PDF-1.7", b"GIF89a"])
def test_files_of_other_kinds_are_known_by_their_first_bytes(start: bytes) -> None:
    out, decoder = _decode(start + b"some text\n" * 50, 3)
    assert out == b""
    assert decoder.binary


def test_the_undecided_start_can_be_looked_at() -> None:
    decoder = Decoder()
    assert list(decoder.push(b"Kil")) == []
    assert decoder.pending() == b"Kil"


@given(
    st.binary(max_size=300), st.sampled_from([b"", b"\x1f\x8b\x08\x00", b"\xff\xfe", gzip.compress(b"abc")])
)
def test_no_bytes_raise_and_chunking_changes_nothing(data: bytes, start: bytes) -> None:
    whole, one = _decode(start + data, 10**6)
    pieces, other = _decode(start + data, 1)
    assert whole == pieces
    assert (one.names, one.binary) == (other.names, other.binary)
