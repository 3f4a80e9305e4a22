"""Chunks of any size -> blocks of whole lines, with lines of any length in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator

SLICE = 64 * 1024
LINE_HEAD = 48 * 1024
LINE_TAIL = 16 * 1024
CUT = b" ... "


class Framer:
    """Cuts a stream into blocks that end in a newline.

    No block is longer than two slices. Of a line over 64 KB the first 48 KB and the last 16 KB
    are kept, with " ... " between them.
    """

    def __init__(self) -> None:
        self._carry = bytearray()
        self._cut = False

    def push(self, data: bytes) -> Iterator[bytes]:
        """Take more of the stream; yields the blocks that it completes."""
        for at in range(0, len(data), SLICE):
            piece = data[at : at + SLICE]
            end = piece.rfind(b"\n") + 1
            if not end:
                self._extend(piece)
                continue
            first = piece.find(b"\n") + 1
            if self._cut or len(self._carry) + first > SLICE:
                self._extend(piece[:first])
                block = self.rest() + piece[first:end]
            else:
                block = b"".join((self._carry, memoryview(piece)[:end]))
            self._carry, self._cut = bytearray(piece[end:]), False
            yield block

    def rest(self) -> bytes:
        """The last line as far as it has come, or b""."""
        if self._cut or len(self._carry) > SLICE:
            return bytes(self._carry[:LINE_HEAD] + CUT + self._carry[-LINE_TAIL:])
        return bytes(self._carry)

    def _extend(self, piece: bytes) -> None:
        self._carry += piece
        # Cut only now and then: cutting costs a move of what is kept.
        if len(self._carry) > 3 * SLICE:
            del self._carry[LINE_HEAD:-LINE_TAIL]
            self._cut = True
