"""Which carriers a log has, outermost first, found out on a sample of its lines."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from vllm_triage.scan.carriers import containers, loggers, pastes, strings, timestamps
from vllm_triage.scan.carriers.evidence import OWN
from vllm_triage.scan.carriers.json_lines import JsonLines
from vllm_triage.scan.carriers.layer import Detector, Found, Layer
from vllm_triage.scan.lines import NumberedLine
from vllm_triage.scan.wraps import find_wraps

_LAYERS = 4
# A carrier on all lines lies outside of the hard wraps of a terminal copy, another one inside.
_ON_ALL = 0.95
# The smallest share of the lines that one of the detectors asks for, but for those of `ON_ANY_SHARE`.
_LEAST = 0.15
# From the narrow to the wide: each may begin with what a later one takes alone.
DETECTORS: tuple[Detector, ...] = (
    *containers.DETECTORS,
    *loggers.DETECTORS,
    *timestamps.DETECTORS,
    *strings.DETECTORS,
    *pastes.DETECTORS,
    *loggers.LAST,
)


class Chain:
    """The layers of a log, applied one after the other."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        self._layers = layers

    @property
    def names(self) -> tuple[str, ...]:
        """The carriers undone so far, outermost first, each once."""
        return tuple(dict.fromkeys(name for layer in self._layers for name in layer.names))

    @property
    def transparent(self) -> bool:
        """Whether lines that hold no JSON record pass unchanged for now."""
        return len(self._layers) == 1 and self._layers[0].idle

    def push(self, lines: list[NumberedLine]) -> list[NumberedLine]:
        """The lines without their carriers; what may go on in the next line is held back."""
        for layer in self._layers:
            lines = layer.push(lines)
        return lines

    def flush(self) -> list[NumberedLine]:
        """What was held back."""
        lines: list[NumberedLine] = []
        for layer in self._layers:
            lines = layer.push(lines) + layer.flush()
        return lines


def detect(sample: list[NumberedLine]) -> Chain:
    """The layers for a log that begins with these lines."""
    layers: list[Layer] = []
    lines = sample
    for _ in range(_LAYERS):
        json_lines = JsonLines()
        lines = _through(json_lines, lines)
        if json_lines.names:
            layers.append(json_lines)
        found = _next([text for _, text in lines])
        if found is None:
            break
        layers.append(found)
        lines = _through(found, lines)
    layers.append(JsonLines())
    return Chain(copy.deepcopy(layers))


def _through(layer: Layer, lines: list[NumberedLine]) -> list[NumberedLine]:
    return layer.push(lines) + layer.flush()


def _next(texts: list[str]) -> Layer | None:
    written = [text for text in texts if text.strip()]
    if not written:
        return None
    # Nothing stands before a line that begins with vLLM's own prefix, and the others have to be many.
    foreign = sum(1 for text in written if not OWN.match(text))
    detectors = DETECTORS if foreign >= _LEAST * len(written) else pastes.ON_ANY_SHARE
    found: list[Found] = [result for detector in detectors if (result := detector(written))]
    outside = next((result.layer for result in found if result.share >= _ON_ALL), None)
    return (
        outside
        or find_wraps(texts, [result.pattern for result in found])
        or (found[0].layer if found else None)
    )
