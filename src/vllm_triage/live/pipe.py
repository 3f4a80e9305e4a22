"""`vllm serve ... 2>&1 | vllm-triage`: standard input as it comes, passed on at once, then looked at."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

from vllm_triage.live.arrivals import arrivals, what_is_there
from vllm_triage.live.echo import Echo
from vllm_triage.live.signals import caught

# Ctrl-C reaches the writer of the pipe, too: it ends the log, and its last lines are still to come.
# Whoever presses it so often has seen that they do not come.
PATIENCE = 3

# Bytes that are looked at together, and seconds for which the first of them waits at most.
_PART = 1 << 16
_LATEST_S = 0.25

# Asked for its pieces with the bell of `caught`; gives b"" where nothing comes.
Source = Callable[[int | None], Iterator[bytes]]


class Taker(Protocol):
    """Looks at the log."""

    def feed(self, piece: bytes) -> object:
        """Take the next piece, cut anywhere."""

    def tick(self) -> object:
        """Look at the clock; called after each piece, and about every second."""


def pump(source: int, echo: Echo, taker: Taker, interrupts: int = PATIENCE) -> int | None:
    """Read a file descriptor to its end; see `drive`."""
    stopped_by = drive(partial(arrivals, source), echo, taker, interrupts)
    if stopped_by is not None and (rest := what_is_there(source)):
        echo.write(rest)
        taker.feed(rest)
    echo.calm()
    return stopped_by


def drive(source: Source, echo: Echo, taker: Taker, interrupts: int) -> int | None:
    """Write each piece to the echo at once, then hand it to the taker, small ones together.

    Writing comes first, so that a reader of the echo never waits for us. An error of the taker ends
    the looking and not the echo, since the server that writes must not die of our fault.

    Args:
        source: Gives the pieces.
        echo: Where the log goes on to.
        taker: Takes every piece.
        interrupts: So many times Ctrl-C ends the reading.

    Returns:
        The signal that ended the reading before the source ended, or None.

    Raises:
        Exception: What the taker raised, once the source has ended.
    """
    guarded, stop = Guarded(taker), _Stop(echo, interrupts)
    handlers: dict[int, Callable[[int], object]] = {
        signal.SIGINT: stop.interrupted,
        signal.SIGTERM: stop.told,
    }
    if hasattr(signal, "SIGHUP"):
        handlers[signal.SIGHUP] = stop.told
    with caught(handlers) as bell:
        for piece in source(bell):
            if piece:
                echo.write(piece)
                guarded.feed(piece)
            else:
                guarded.tick()
            if stop.signal is not None:
                break
    guarded.check()
    return stop.signal


class Guarded:
    """Hands pieces on to a taker, whose first error is kept for later and ends its work.

    Small pieces are gathered while more of them come: to look at each line by itself would keep the
    next one waiting.
    """

    def __init__(self, taker: Taker) -> None:
        self._taker = taker
        self._failure: Exception | None = None
        self._gathered: list[bytes] = []
        self._size = 0
        self._since = 0.0

    def feed(self, piece: bytes) -> None:
        if not self._gathered:
            self._since = time.monotonic()
        self._gathered.append(piece)
        self._size += len(piece)
        if self._size >= _PART or time.monotonic() - self._since >= _LATEST_S:
            self.tick()

    def tick(self) -> None:
        self._hand_on()
        self._try(self._taker.tick)

    def check(self) -> None:
        """Nothing more comes: raise what was kept."""
        self._hand_on()
        if self._failure is not None:
            raise self._failure

    def _hand_on(self) -> None:
        if self._gathered:
            part = b"".join(self._gathered)
            self._gathered, self._size = [], 0
            self._try(lambda: self._taker.feed(part))

    def _try(self, work: Callable[[], object]) -> None:
        if self._failure is None:
            try:
                work()
            except Exception as error:
                self._failure = error


class _Stop:
    """What the signals ask for."""

    def __init__(self, echo: Echo, interrupts: int) -> None:
        self.signal: int | None = None
        self._echo = echo
        self._interrupts_left = interrupts

    def interrupted(self, number: int) -> None:
        self._interrupts_left -= 1
        if self._interrupts_left <= 0:
            self.told(number)

    def told(self, number: int) -> None:
        self.signal = number
        self._echo.hurry()
