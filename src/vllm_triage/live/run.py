"""`vllm-triage run -- COMMAND`: the command as our child, its log read, its end known."""

from __future__ import annotations

import select
import signal
import time
from collections.abc import Callable, Sequence

from vllm_triage.live.arrivals import arrivals
from vllm_triage.live.child import FORWARDED, Child
from vllm_triage.live.echo import Echo
from vllm_triage.live.oom import oom_kills
from vllm_triage.live.pipe import Taker
from vllm_triage.live.signals import caught
from vllm_triage.model import Ending

# Seconds of silence after the command has ended, and seconds in all, for which processes that it left
# behind are listened to.
_SILENCE_S, _LINGER_S = 1.0, 10.0


def supervise(
    command: Sequence[str],
    echo: Echo,
    taker: Taker,
    in_terminal: bool,
    left: Callable[[], object] = lambda: None,
) -> Ending:
    """Run a command to its end.

    Args:
        command: The program and its arguments.
        echo: Where its log goes on to.
        taker: Looks at the log; raises nothing (see `Guarded`), since the command must not die of our fault.
        in_terminal: Whether it is to find itself in a terminal.
        left: Called where processes of the command live on after its end.

    Raises:
        OSError: It can't be started.
    """
    child = Child(command)
    handlers: dict[int, Callable[[int], object]] = dict.fromkeys(FORWARDED, child.forward)
    handlers |= {signal.SIGCHLD: child.reap, signal.SIGWINCH: child.resized}
    handlers |= {signal.SIGTSTP: child.paused, signal.SIGCONT: child.resumed}
    killed_before = oom_kills()
    with caught(handlers) as bell:
        out = child.start(in_terminal)
        lingering = _Lingering(child)
        for piece in arrivals(out, bell):
            if piece:
                echo.write(piece)
                taker.feed(piece)
            else:
                taker.tick()
            if lingering.over(bool(piece)):
                break
        while child.code is None:
            # It has closed its output and lives on.
            select.select([] if bell is None else [bell], [], [], 1)
            child.reap()
    killed = oom_kills()
    if child.survivors():
        left()
    return Ending(
        status=child.code,
        told=child.told,
        oom_kills=None if killed is None or killed_before is None else killed - killed_before,
    )


class _Lingering:
    """How long a log is read whose main writer has ended while others hold it open."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._ended: float | None = None
        self._last = 0.0

    def over(self, something_came: bool) -> bool:
        if self._child.code is None:
            return False
        now = time.monotonic()
        if self._ended is None or something_came:
            self._last = now
        self._ended = self._ended or now
        return now - self._last >= _SILENCE_S or now - self._ended >= _LINGER_S
