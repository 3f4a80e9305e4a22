"""How the time grows with the size of the log, the number of rules and the density of hits, as a picture."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.logs import KINDS
from vllm_triage import Triager
from vllm_triage.match import Matcher

MIB = 1 << 20
Points = list[tuple[float, float]]


def growth(folder: Path) -> str:
    """An SVG of three curves; each axis counts from 1, the smallest case."""
    triager = Triager()
    triager.triage("warm")
    size = [(n, _seconds(triager, KINDS["healthy"](n * MIB))) for n in (1, 2, 4, 8, 16, 32)]
    log = KINDS["failing"](4 * MIB)
    rules = [(n, _seconds(with_copies(n), log)) for n in (1, 2, 4, 10)]
    dense = KINDS["dense"](MIB)
    density = [(n, _seconds(triager, KINDS["healthy"]((32 - n) * MIB) + dense * n)) for n in (1, 2, 4, 8, 16)]
    return _svg([("size", size), ("rules", rules), ("hits", density)])


def _seconds(triager: Triager, log: bytes) -> float:
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        triager.triage(log)
        times.append(time.perf_counter() - begun)
    return min(times)


def with_copies(times: int) -> Triager:
    """A Triager with every rule so many times, each copy with words of its own."""
    triager = Triager()
    rules = {}
    for copy in range(times):
        for rule in triager.catalog.rules.values():
            signatures = tuple(
                s._replace(
                    pattern=f"{s.pattern} copy {copy}",
                    literals=tuple(f"{x} copy {copy}" for x in s.literals),
                )
                if copy and s.pattern
                else s
                for s in rule.signatures
            )
            rules[f"{rule.id}-{copy}" if copy else rule.id] = rule._replace(signatures=signatures)
    triager.catalog = triager.catalog._replace(rules=rules)
    triager._matcher = Matcher(triager.catalog)
    triager.triage("warm")
    return triager


def _svg(curves: Sequence[tuple[str, Points]]) -> str:
    width, height, margin = 640, 300, 40
    colours = ("#1f77b4", "#d62728", "#2ca02c")
    most = max(x / points[0][0] for _, points in curves for x, _ in points)
    top = max(y / points[0][1] for _, points in curves for _, y in points)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<path d="M{margin} {margin}V{height - margin}H{width - margin}" fill="none" stroke="#888"/>',
        f'<text x="{width - margin}" y="{height - 12}" text-anchor="end">times the smallest case (to {most:g})</text>',
        f'<text x="{margin}" y="{margin - 12}">times its time (to {top:.1f})</text>',
    ]
    for (name, points), colour in zip(curves, colours, strict=True):
        scaled = [
            (
                margin + (x / points[0][0] - 1) / (most - 1) * (width - 2 * margin),
                height - margin - (y / points[0][1]) / top * (height - 2 * margin),
            )
            for x, y in points
        ]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in scaled)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(
            f'<text x="{scaled[-1][0] + 4:.1f}" y="{scaled[-1][1]:.1f}" fill="{colour}">{name}</text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"
