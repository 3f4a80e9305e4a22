"""Whether a stream is text at all, judged by its start."""

from __future__ import annotations

from typing import Literal

Nature = Literal["text", "empty", "binary"]

_SAMPLE = 64 * 1024
# What no text holds: C0 controls but tab, line ends, form feed, bell, backspace and escape.
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\v\a\b\x1b") | {127})
_BINARY_SHARE = 0.3


class TextGauge:
    """Looks at the first 64 KB that are not NUL bytes.

    Truncated under its writer, a log begins with any number of NUL bytes, and UTF-16 without a
    mark is half NUL: what counts is what is left without them.
    """

    def __init__(self) -> None:
        self._sample = bytearray()
        self._nul = False

    def push(self, data: bytes) -> None:
        """Take more of the stream."""
        if len(self._sample) < _SAMPLE:
            text = data.translate(None, b"\0")
            self._nul = self._nul or len(text) < len(data)
            self._sample += text[: _SAMPLE - len(self._sample)]

    @property
    def nature(self) -> Nature:
        """What the stream is, as far as it has come."""
        sample = bytes(self._sample)
        if not sample.strip():
            return "binary" if self._nul else "empty"
        controls = len(sample) - len(sample.translate(None, _CONTROLS))
        undecodable = sample.decode("utf-8", "replace").count("\ufffd")
        return "binary" if controls + undecodable > _BINARY_SHARE * len(sample) else "text"
