"""One snapshot of a host, each part on its own: what could not be read is None and has its reason."""

from __future__ import annotations

from dataclasses import dataclass, field

from vllm_triage.probes.facts.environment import Environment
from vllm_triage.probes.facts.gpus import Gpus
from vllm_triage.probes.facts.host import Host
from vllm_triage.probes.facts.hub import Hub
from vllm_triage.probes.facts.libraries import Libraries
from vllm_triage.probes.facts.model import Model
from vllm_triage.probes.facts.network import Network
from vllm_triage.probes.facts.packages import Python

FORMAT = 1


@dataclass(frozen=True)
class Facts:
    """What is known of a host; `problems` says by part why it is not known."""

    format: int = FORMAT
    gpus: Gpus | None = None
    environment: Environment | None = None
    python: Python | None = None
    libraries: Libraries | None = None
    model: Model | None = None
    hub: Hub | None = None
    host: Host | None = None
    network: Network | None = None
    problems: dict[str, str] = field(default_factory=dict)
