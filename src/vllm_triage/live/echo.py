"""Where the log goes on to: standard output and a copy; each ends by itself and none ends the reading."""

from __future__ import annotations

import errno
import os
import select
from collections.abc import Callable

_LOOK_UP_S = 1.0


class Echo:
    """Writes every piece, whole and in order, to each of its sinks.

    A sink that is closed or full is left, and the others go on: the server that writes the log must
    not die of it.

    Args:
        sinks: File descriptors with the names that a person knows them by.
        lost: Told the name and the reason when a sink is left; not for a reader that has gone away.
    """

    def __init__(
        self, sinks: dict[int, str], lost: Callable[[str, str], object] = lambda name, reason: None
    ) -> None:
        self._sinks = dict(sinks)
        self._lost = lost
        self._in_haste = False
        self.ends_in_line = False

    def write(self, piece: bytes) -> None:
        """Take the next piece; returns when every sink has it, which a slow reader can make long."""
        for sink in list(self._sinks):
            try:
                self._write(sink, piece)
            except OSError as error:
                name = self._sinks.pop(sink)
                if error.errno != errno.EPIPE:
                    self._lost(name, error.strerror or str(error))
        self.ends_in_line = bool(self._sinks) and not piece.endswith(b"\n")

    def hurry(self) -> None:
        """From now on no sink is waited for; a write that blocks right now ends. For signal handlers."""
        self._in_haste = True
        for sink in list(self._sinks):
            # What makes a write give up that is blocked already.
            os.set_blocking(sink, False)

    def calm(self) -> None:
        """Take back what `hurry` changed: others share these descriptors."""
        if self._in_haste:
            for sink in self._sinks:
                os.set_blocking(sink, True)

    def _write(self, sink: int, piece: bytes) -> None:
        rest = memoryview(piece)
        while rest:
            try:
                rest = rest[os.write(sink, rest) :]
            except BlockingIOError:
                # Another program made the descriptor non-blocking, or there is no time.
                if self._in_haste:
                    return
                select.select([], [sink], [], _LOOK_UP_S)
