"""Lines that a terminal's width cut in two, glued together again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from vllm_triage.lazy import lazy
from vllm_triage.scan.carriers.evidence import OPENER, STAMP
from vllm_triage.scan.framing import SLICE
from vllm_triage.scan.lines import NumberedLine

_NARROWEST, _WIDEST = 60, 320
_SHARE, _AT_LEAST, _GOING_ON = 0.06, 4, 0.7
_ALIKE = 8
# Cut between stamp and message, the message may look like the begin of something.
_STAMP_ALONE = lazy(rf".{{0,200}}{STAMP}\[?[\w./-]{{1,120}}:\d+\] ?$")
# A frame that happens to be as long as the width; its source line follows.
_WHOLE_FRAME = lazy(r'.*File "[^"]+", line \d+, in [\w<>]+$')


@dataclass
class WrapLayer:
    """Glues to a line of full width the next one, unless that one begins something.

    `padded` lines were filled with blanks up to the width, and reach it only with something else.
    `starts` are the carriers that stand on the lines as they were before they were cut.
    """

    width: int
    padded: bool
    starts: Sequence[re.Pattern[str]]
    _number: int = 0
    _parts: list[str] = field(default_factory=list)
    _size: int = 0

    names = ("hard-wrap",)

    @property
    def idle(self) -> bool:
        return not self._parts

    def push(self, lines: list[NumberedLine]) -> list[NumberedLine]:
        done: list[NumberedLine] = []
        for number, text in lines:
            last = self._parts[-1] if self._parts else ""
            if not self.is_full(last) or not self.goes_on(last, text) or self._size >= SLICE:
                done += self.flush()
                self._number = number
            self._parts.append(text)
            self._size += len(text)
        return done

    def flush(self) -> list[NumberedLine]:
        rest = [(self._number, "".join(self._parts))] if self._parts else []
        self._parts, self._size = [], 0
        return rest

    def is_full(self, line: str) -> bool:
        """Whether a line reaches the width."""
        return len(line) == self.width and not (self.padded and line.endswith("  "))

    def goes_on(self, line: str, after: str) -> bool:
        """Whether what stands after a full line is its rest."""
        if any(start.match(after) for start in self.starts):
            return False
        # Items of a list, steps of a progress bar.
        if after[:_ALIKE] == line[:_ALIKE]:
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
    widest = [text for text in written if len(text) == width]
    blank = sum(1 for text in widest if text.endswith("  "))
    layer = WrapLayer(width, blank > len(widest) / 2, starts)
    full = [(line, after) for line, after in pairwise(texts) if layer.is_full(line)]
    if len(full) < max(_AT_LEAST, _SHARE * len(written)):
        return None
    # Lines of one length, such as the figures of an idle server, are no cut lines if none goes on.
    going_on = sum(1 for line, after in full if layer.goes_on(line, after))
    return layer if going_on >= _GOING_ON * len(full) else None
