"""Bytes as they lie on disk -> bytes of text: gzip inflated, UTF-16 turned into UTF-8, binary files known."""

from __future__ import annotations

import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, IncrementalDecoder, getincrementaldecoder
from collections.abc import Iterator

_GZIP = b"\x1f\x8b"
_BINARY_MAGIC = (
    b"\x7fELF",
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"RIFF",
    b"%PDF-",
    b"BZh",
    b"\xfd7zXZ",
    b"\x28\xb5\x2f\xfd",
    b"7z\xbc\xaf",
    b"SQLite format 3",
    b"MZ\x90",
    b"\xca\xfe\xba\xbe",
    b"\xcf\xfa\xed\xfe",
)
_LONGEST_MAGIC = max(map(len, _BINARY_MAGIC))
_INFLATE_STEP = 16 * 1024
_INFLATE_OUT = 256 * 1024


class Decoder:
    """Undoes what was done to the stream as a whole; how is recognised by its first bytes."""

    def __init__(self, *, compressed: bool = True) -> None:
        self.names: list[str] = []
        self.binary = False
        self._may_be_gzip = compressed
        self._start: bytes | None = b""
        self._inflater: _Inflater | None = None
        self._inflated: Decoder | None = None
        self._charset: IncrementalDecoder | None = None

    def push(self, data: bytes) -> Iterator[bytes]:
        """Take more of the stream; yields what can be said of the text so far."""
        if self._start is not None:
            self._start += data
            if len(self._start) < _LONGEST_MAGIC:
                return
            data = self._begin()
        yield from self._decode(data)

    def pending(self) -> bytes:
        """The few first bytes that are not decided yet."""
        if self._inflated:
            return self._inflated.pending()
        return self._start or b""

    def finish(self) -> Iterator[bytes]:
        """The stream has ended; yields what was held back."""
        if self._start is not None:
            yield from self._decode(self._begin())
        if self._inflater and self._inflated:
            yield from self._inflated.finish()
            self._adopt(self._inflated)
            self.binary = self.binary or not self._inflater.produced
        if self._charset:
            yield self._charset.decode(b"", final=True).encode("utf-8", "replace")

    def _begin(self) -> bytes:
        """Decide what the stream is; returns what of its start is left to decode."""
        start, self._start = self._start or b"", None
        if self._may_be_gzip and start.startswith(_GZIP):
            self.names.append("gzip")
            self._inflater, self._inflated = _Inflater(), Decoder(compressed=False)
        elif start.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
            self.names.append("utf-16")
            name = "utf-16-le" if start.startswith(BOM_UTF16_LE) else "utf-16-be"
            self._charset = getincrementaldecoder(name)("replace")
            return start[2:]
        elif start.startswith(_BINARY_MAGIC):
            self.binary = True
        return start.removeprefix(BOM_UTF8)

    def _adopt(self, inner: Decoder) -> None:
        self.binary = inner.binary
        self.names[1:] = inner.names

    def _decode(self, data: bytes) -> Iterator[bytes]:
        if self.binary:
            return
        if self._inflater and self._inflated:
            for part in self._inflater.push(data):
                yield from self._inflated.push(part)
            self._adopt(self._inflated)
        elif self._charset:
            yield self._charset.decode(data).encode("utf-8", "replace")
        else:
            yield data


class _Inflater:
    """gzip of one or more members; what can't be inflated ends it."""

    def __init__(self) -> None:
        self.produced = False
        self._member: zlib._Decompress | None = zlib.decompressobj(wbits=31)

    def push(self, data: bytes) -> Iterator[bytes]:
        for at in range(0, len(data), _INFLATE_STEP):
            yield from self._step(data[at : at + _INFLATE_STEP])

    def _step(self, data: bytes) -> Iterator[bytes]:
        while data and self._member:
            before = self._member.copy()
            try:
                out = self._member.decompress(data, _INFLATE_OUT)
            except zlib.error:
                out, self._member = _up_to_error(before, data), None
            if out:
                self.produced = True
                yield out
            if self._member and self._member.eof:
                data, self._member = self._member.unused_data, zlib.decompressobj(wbits=31)
            elif self._member:
                data = self._member.unconsumed_tail


def _up_to_error(member: zlib._Decompress, data: bytes) -> bytes:
    """What a damaged member gives before its damage, however its bytes were chunked."""
    out = bytearray()
    try:
        for at in range(len(data)):
            out += member.decompress(data[at : at + 1])
    except zlib.error:
        pass
    return bytes(out)
