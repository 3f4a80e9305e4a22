"""One log that is being written, as the command line reads it: the tool is loaded after the first echo."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from vllm_triage.live.herald import Announce

if TYPE_CHECKING:
    from vllm_triage.model import Ending, Log
    from vllm_triage.pipeline import Stream, Triager
    from vllm_triage.report import Report


class Session:
    """Takes the pieces of a log; loads the tool with the first one.

    Args:
        triager: Makes the Triager.
        announce: See `Triager.stream`.
        stall_after: See `Triager.stream`.
        now: Seconds of a clock that never goes back.
    """

    def __init__(
        self,
        triager: Callable[[], Triager],
        announce: Announce | None = None,
        stall_after: float | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._make = triager
        self._announce = announce
        self._stall_after = stall_after
        self._now = now
        self._has_begun = False

    @cached_property
    def _stream(self) -> Stream:
        return self._make().stream(self._announce, self._stall_after, self._now)

    def feed(self, piece: bytes) -> None:
        self._has_begun = True
        self._stream.feed(piece)

    def tick(self) -> None:
        """To be called about every second, also when nothing comes."""
        if self._has_begun:
            self._stream.tick()

    @property
    def log(self) -> Log:
        """What has come so far, taken apart."""
        return self._stream.log

    @property
    def silent_s(self) -> float:
        """Seconds since the log last moved."""
        return self._stream.silent_s

    def provisional(self) -> Report:
        """The report on a log whose writer lives on."""
        return self._stream.report

    def close(self, ending: Ending | None = None) -> Report:
        """The log has ended."""
        return self._stream.close(ending)
