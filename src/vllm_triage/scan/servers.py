"""Several servers in one log, told apart by the carrier that names who printed each line."""

from __future__ import annotations

from vllm_triage.lazy import lazy
from vllm_triage.scan.block import ScannedLine
from vllm_triage.scan.carriers.evidence import PROCESS, STAMP
from vllm_triage.scan.focus import Regions
from vllm_triage.scan.lines import Printed

_OWN = lazy(rf"{PROCESS}|{STAMP}")


def by_server(regions: Regions) -> list[Regions]:
    """The lines of each service that prints a vLLM's own, with those of nobody; [] where there is but one."""
    names = dict.fromkeys(
        line.number.service
        for region in regions
        for line in region
        if isinstance(line.number, Printed) and _OWN.match(line.text)
    )
    return [_of(name, regions) for name in names] if len(names) > 1 else []


def _of(name: str, regions: Regions) -> Regions:
    def is_own(line: ScannedLine) -> bool:
        return not isinstance(line.number, Printed) or line.number.service == name

    return tuple(own for region in regions if (own := tuple(filter(is_own, region))))
