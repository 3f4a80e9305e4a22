"""Lines that a terminal's width cut in two, glued together again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from vllm_triage.scan.carriers.evidence import OPENER, STAMP
from vllm_triage.scan.framing import SLICE
from vllm_triage.scan.lines import NumberedLine

_NARROWEST, _WIDEST = 60, 320
_SHARE, _AT_LEAST, _GOING_ON = 0.06, 4, 0.7
# Cut between stamp and message, the message may look like the begin of something.
_STAMP_ALONE = re.compile(rf".{{0,200}}{STAMP}\[?[\w./-]{{1,120}}:\d+\] ?$")
# A frame that happens to be as long as the width; its source line follows.
_WHOLE_FRAME = re.compile(r'.*File "[^"]+", line \d+, in [\w<>]+$')


@dataclass
class WrapLayer:
    """Glues to a line of full width the next one, unless that one begins something.

    `starts` are the carriers that stand on the lines as they were before they were cut.
    """

    width: int
    starts: Sequence[re.Pattern[str]]
    _open: NumberedLine | None = None
    _full: bool = False

    names = ("hard-wrap",)

    @property
    def idle(self) -> bool:
        return self._open is None

    def push(self, lines: list[NumberedLine]) -> list[NumberedLine]:
        done: list[NumberedLine] = []
        for number, text in lines:
            if self._open and self._full and self.goes_on(self._open[1], text):
                self._open = (self._open[0], (self._open[1] + text)[:SLICE])
            else:
                done += self.flush()
                self._open = (number, text)
            self._full = self.is_full(text)
        return done

    def flush(self) -> list[NumberedLine]:
        rest = [self._open] if self._open else []
        self._open = None
        return rest

    def is_full(self, line: str) -> bool:
        """Whether a line reaches the width; some terminals pad every line with blanks to it."""
        return len(line) == self.width and not line.endswith("  ")

    def goes_on(self, line: str, after: str) -> bool:
        """Whether what stands after a full line is its rest."""
        if any(start.match(after) for start in self.starts):
            return False
        if _STAMP_ALONE.match(line):
            return True
        if after[:1].isspace() and _WHOLE_FRAME.match(line):
            return False
        return not OPENER.match(after)


def find_wraps(texts: Sequence[str], starts: Sequence[re.Pattern[str]]) -> WrapLayer | None:
    """The layer for lines of which many have exactly the greatest length, or None."""
    written = [text for text in texts if text.strip()]
    width = max(map(len, written), default=0)
    if not _NARROWEST <= width <= _WIDEST:
        return None
    layer = WrapLayer(width, starts)
    full = [(line, after) for line, after in pairwise(texts) if layer.is_full(line)]
    if len(full) < max(_AT_LEAST, _SHARE * len(written)):
        return None
    # Lines of one length, such as the figures of an idle server, are no cut lines if none goes on.
    going_on = sum(1 for line, after in full if layer.goes_on(line, after))
    return layer if going_on >= _GOING_ON * len(full) else None
