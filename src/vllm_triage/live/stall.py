"""How long a start may be silent."""

from __future__ import annotations

from vllm_triage.lazy import lazy
from vllm_triage.model import Log

# Seconds of silence that a phase may well have; generous, since a false alarm costs trust.
_NORMAL_S = {
    "import": 180.0,
    "arguments": 180.0,
    "config": 300.0,
    "distributed": 300.0,
    "download": 1800.0,
    "weights": 600.0,
    "compile": 1200.0,
    "profile": 600.0,
    "kv-cache": 300.0,
    "graph-capture": 600.0,
    "warm-up": 1200.0,
    "api": 180.0,
}
_OTHERWISE_S = 300.0
# The slowest file systems and networks on which somebody would still serve a model.
_SLOWEST_GIB_S = 0.02
_SIZE = lazy(r"Checkpoint size: ([\d.]+) GiB")


def normal_s(phase: str | None, log: Log) -> float:
    """Seconds without a word that are normal in this phase, more for weights that are large."""
    normal = _NORMAL_S.get(phase or "", _OTHERWISE_S)
    if phase not in {"download", "weights"}:
        return normal
    sizes = [float(match[1]) for line in log if (match := _SIZE.search(line.text))]
    return max(normal, sizes[-1] / _SLOWEST_GIB_S) if sizes else normal
