"""Measures vllm-triage side by side with its peers: `make bench` writes docs/benchmarks.md and its picture.

Every figure is a ratio of two medians that were measured in turns, in one run on one machine.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.curves import growth
from benchmarks.logs import make
from vllm_triage import Triager

MIB = 1 << 20


@dataclass(frozen=True)
class Row:
    """What was measured against which peer; ratios as medians, `spread` their quartiles."""

    work: str
    peer: str
    ratio: float
    spread: str
    target: str


def seconds(action: Callable[[], object]) -> float:
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


def compare(
    work: str,
    ours: Callable[[], object],
    peer: str,
    theirs: Callable[[], object],
    target: str,
    rounds: int,
    inverse: bool = False,
) -> Row:
    """Run both in turns; the ratio is ours over theirs, or theirs over ours where more is better."""
    ours(), theirs()
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
    ratios = sorted((b / a if inverse else a / b) for a, b in pairs)
    low, high = ratios[len(ratios) // 4], ratios[3 * len(ratios) // 4]
    return Row(work, peer, statistics.median(ratios), f"{low:.2f} to {high:.2f}", target)


def command(*words: str) -> Callable[[], object]:
    quiet = subprocess.DEVNULL
    return lambda: subprocess.run(words, stdin=quiet, stdout=quiet, stderr=quiet, check=False)


def naive(patterns: Sequence[re.Pattern[str]], text: str) -> Callable[[], object]:
    """Every signature on every line, as a first version of such a tool does it."""

    def run() -> None:
        for line in text.split("\n"):
            for pattern in patterns:
                pattern.search(line)

    return run


def measure(folder: Path, installed: Path, size: int, rounds: int) -> list[Row]:
    tool, nothing = str(installed / "vllm-triage"), [str(installed / "python"), "-c", "pass"]
    triager = Triager()
    triager.triage("warm")
    every = [s.pattern for rule in triager.catalog.rules.values() for s in rule.signatures if s.pattern]
    compiled = [re.compile(pattern, re.IGNORECASE) for pattern in every]
    healthy, failing = make(folder, "healthy", MIB), make(folder, "failing", MIB)
    small, big = make(folder, "failing", 100 * 1024), make(folder, "healthy", size)
    part = small.read_text()
    rows = [
        compare("`vllm-triage --version`", command(tool, "--version"), "`python -c pass`", command(*nothing), "<= 2.5", rounds),
        compare("CLI, 1 MB healthy log", command(tool, str(healthy)), "`python -c pass`", command(*nothing), "<= 5", rounds),
        compare("CLI, 1 MB failing log with report", command(tool, str(failing)), "`python -c pass`", command(*nothing), "<= 16", rounds),
        compare("triage() of 100 KB, warm", lambda: triager.triage(part), "naive loop", naive(compiled, part), "<= 0.35", 3),
        compare("scan in process, times faster", lambda: scan(triager, healthy.read_bytes()), "naive loop", naive(compiled, healthy.read_text()), ">= 350", 3, inverse=True),
    ]  # fmt: skip
    # All signatures together are more than ripgrep compiles; the literals they are found by are not.
    literals = folder / "literals"
    literals.write_text("".join(f"{literal}\n" for literal in triager._matcher.literals.literals))
    label = f"CLI, {size // MIB} MB healthy log"
    if shutil.which("rg"):
        rows.append(
            compare(
                label,
                command(tool, str(big)),
                "`rg -i -F -f`",
                command("rg", "-i", "-F", "-f", str(literals), str(big)),
                "<= 1",
                5,
            )
        )
    rows.append(
        compare(
            "pipe, share of the throughput",
            piped(tool, big),
            "`tee`",
            piped("tee", big),
            ">= 0.45",
            5,
            inverse=True,
        )
    )
    for kind in ("one line", "NUL", "progress bars", "out of memory", "dense"):
        hostile, calm = make(folder, kind, 20 * MIB), make(folder, "healthy", 20 * MIB)
        rows.append(
            compare(
                f"20 MB of {kind}",
                command(tool, str(hostile)),
                "20 MB healthy log",
                command(tool, str(calm)),
                "<= 5",
                3,
            )
        )
    return rows


def scan(triager: Triager, log: bytes) -> None:
    scanner = triager.scanner()
    scanner.feed(log)
    scanner.close()


def piped(program: str, log: Path) -> Callable[[], object]:
    def run() -> None:
        with open(log, "rb") as source:
            cat = subprocess.Popen(["cat"], stdin=source, stdout=subprocess.PIPE)
            subprocess.run(
                [program], stdin=cat.stdout, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
            )
            cat.wait()

    return run


def document(rows: Sequence[Row]) -> str:
    lines = [
        "# Benchmarks",
        "",
        "Made by `make bench`. Each figure is a ratio of two programs measured in turns in one run: ours over the peer's time, or",
        "times faster where the target is a minimum. Ratios carry over from machine to machine better than seconds do.",
        "",
        "| work | peer | ratio | quartiles | target |",
        "|---|---|---|---|---|",
        *[f"| {row.work} | {row.peer} | {row.ratio:.2f} | {row.spread} | {row.target} |" for row in rows],
        "",
        "![Time by size of the log, number of rules and density of hits](benchmarks.svg)",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100, help="MB of the big log")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("docs", type=Path)
    parser.add_argument("installed", type=Path, help="the bin folder of an environment with the tool's wheel")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        rows = measure(Path(name), args.installed.resolve(), args.size * MIB, args.rounds)
        (args.docs / "benchmarks.svg").write_text(growth(Path(name)), encoding="utf-8")
    (args.docs / "benchmarks.md").write_text(document(rows), encoding="utf-8")
    print(document(rows))


if __name__ == "__main__":
    main()
