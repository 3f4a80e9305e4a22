"""Docker compose, containerd's CRI and kubectl: what container runtimes put before a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vllm_triage.lazy import lazy
from vllm_triage.scan.carriers.layer import Detector, Found, Prefix, prefix_found
from vllm_triage.scan.framing import SLICE
from vllm_triage.scan.lines import NumberedLine

_CRI = lazy(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d) (?:stdout|stderr) (?P<tag>[FP])(?: |$)"
)
_COMPOSE = lazy(r"(?![A-Z]+ +\|)(?P<service>[A-Za-z0-9][\w.-]{0,80}) *\| ?")


@dataclass
class CriLayer:
    """Takes the CRI prefix off and joins the parts (`P`) of a long line with its end (`F`)."""

    names = ("cri",)
    _open: NumberedLine | None = None

    @property
    def idle(self) -> bool:
        return self._open is None

    def push(self, lines: list[NumberedLine]) -> list[NumberedLine]:
        done: list[NumberedLine] = []
        for number, text in lines:
            found = _CRI.match(text)
            if not found:
                done += [*self.flush(), (number, text)]
                continue
            text = text[found.end() :]
            if self._open and len(self._open[1]) >= SLICE:
                done += self.flush()
            if self._open:
                number, text = self._open[0], self._open[1] + text
            self._open = (number, text)
            if found["tag"] == "F":
                done += self.flush()
        return done

    def flush(self) -> list[NumberedLine]:
        rest = [self._open] if self._open else []
        self._open = None
        return rest


def _cri(sample: Sequence[str]) -> Found | None:
    count = sum(1 for line in sample if _CRI.match(line))
    return Found(count / len(sample), CriLayer(), _CRI) if count >= 0.3 * len(sample) else None


def _compose(sample: Sequence[str]) -> Found | None:
    found = [match for line in sample if (match := _COMPOSE.match(line))]
    services = [match["service"] for match in found]
    # Services come back; the first column of a table doesn't.
    if len(services) < max(3, 0.15 * len(sample)) or len(set(services)) > len(services) / 3:
        return None
    return prefix_found("compose", _COMPOSE, len(services) / len(sample), found)


DETECTORS: tuple[Detector, ...] = (
    _cri,
    Prefix("kubectl-prefix", lazy(r"\[pod/(?P<service>[^\]\s]{1,200})\] ?")),
    _compose,
    # `docker build --progress=plain`
    Prefix("buildkit", lazy(r"#\d{1,4} \d{1,6}\.\d{1,4}(?: |$)"), at_least=3),
)
