"""Bytes -> clean lines worth looking at."""

from __future__ import annotations

from vllm_triage.scan.block import ScannedLine
from vllm_triage.scan.focus import Regions
from vllm_triage.scan.landmarks import LANDMARKS
from vllm_triage.scan.literals import LiteralIndex
from vllm_triage.scan.scanner import Scan, Scanner, index_of
from vllm_triage.scan.servers import by_server

__all__ = ["LANDMARKS", "LiteralIndex", "Regions", "Scan", "ScannedLine", "Scanner", "by_server", "index_of"]
