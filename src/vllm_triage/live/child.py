"""The command that `run` starts: its terminal, its signals, its end."""

from __future__ import annotations

import fcntl
import os
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Sequence

# Passed on to the whole process group.
FORWARDED = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
)
_REQUESTS = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT}
_SIZE = struct.Struct("HHHH")


class Child:
    """A command in a session of its own, so that a signal reaches it once, and all of it.

    Its standard error joins its standard output, in the order in which they were written. Standard input
    is ours.

    Attributes:
        code: Its exit status, or the negative number of the signal that ended it; None while it lives.
        told: Whether a signal that asks for an end was passed on to it.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self.code: int | None = None
        self.told = False
        self._command = list(command)
        self._pid: int | None = None
        self._terminal: int | None = None
        self._early: list[int] = []

    def start(self, in_terminal: bool) -> int:
        """Start it and return the file descriptor of what it says.

        Args:
            in_terminal: Whether it is to find itself in a terminal, as wide as ours and with its colours.

        Raises:
            OSError: There is no such program, or it may not be run.
        """
        out, into = _new_terminal() if in_terminal else os.pipe()
        self._terminal = out if in_terminal else None
        self.resized(signal.SIGWINCH)
        try:
            self._process = subprocess.Popen(self._command, stdout=into, stderr=into, start_new_session=True)
        except OSError:
            os.close(out)
            raise
        finally:
            os.close(into)
        self._pid = self._process.pid
        self.reap()
        for number in self._early:
            self._send(number)
        return out

    def forward(self, number: int) -> None:
        """A signal came for it."""
        self.told = self.told or number in _REQUESTS
        if self._pid is None:
            self._early.append(number)
        else:
            self._send(number)

    def paused(self, number: int) -> None:
        """Ctrl-Z: it stops, then we do. A group without a terminal would ignore SIGTSTP."""
        self._send(signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGSTOP)

    def resumed(self, number: int) -> None:
        self._send(signal.SIGCONT)

    def resized(self, number: int) -> None:
        """Give its terminal the size of ours."""
        if self._terminal is not None:
            try:
                size = fcntl.ioctl(sys.stdout.fileno(), termios.TIOCGWINSZ, bytes(_SIZE.size))
                fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, size)
            except OSError:
                return
            self._send(signal.SIGWINCH)

    def reap(self, number: int = 0) -> None:
        """Take note of its end; as pid 1, take leave of every process whose parent is gone."""
        if self._pid is None:
            return
        try:
            while True:
                pid, status = os.waitpid(-1 if os.getpid() == 1 else self._pid, os.WNOHANG)
                if pid == 0:
                    return
                if pid == self._pid:
                    self.code = self._process.returncode = os.waitstatus_to_exitcode(status)
        except ChildProcessError:
            return

    def survivors(self) -> bool:
        """Whether any of its processes live on."""
        try:
            os.killpg(self._pid or 0, 0)
        except OSError:
            return False
        return True

    def _send(self, number: int) -> None:
        if self._pid is not None:
            try:
                os.killpg(self._pid, number)
            except OSError:
                return  # it is gone


def _new_terminal() -> tuple[int, int]:
    """A terminal's two sides, which changes no byte on the way: the real one does what is to be done."""
    out, into = os.openpty()
    attributes = termios.tcgetattr(into)
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(into, termios.TCSANOW, attributes)
    return out, into
