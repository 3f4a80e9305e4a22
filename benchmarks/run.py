"""Measures vllm-triage side by side with its peers: `make bench` writes docs/benchmarks.md and its picture.

Every figure is a ratio of two medians that were measured in turns, in one run on one machine.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.curves import growth, with_copies
from benchmarks.logs import KINDS, make
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
    tool, nothing = str(installed / "vllm-triage"), command(str(installed / "python"), "-c", "pass")
    triager = Triager()
    triager.triage("warm")
    every = [s.pattern for rule in triager.catalog.rules.values() for s in rule.signatures if s.pattern]
    compiled = [re.compile(pattern, re.IGNORECASE) for pattern in every]
    healthy, failing = make(folder, "healthy", MIB), make(folder, "failing", MIB)
    small, big = make(folder, "failing", 100 * 1024), make(folder, "healthy", size)
    part, dense = small.read_text(), KINDS["failing"](4 * MIB)
    many = with_copies(10)
    megabytes, pass_ = f"{size // MIB} MB", "`python -c pass`"
    return [
        compare("`vllm-triage --version`", command(tool, "--version"), pass_, nothing, "<= 2.5", rounds),
        compare("CLI, 1 MB healthy log", command(tool, str(healthy)), pass_, nothing, "<= 5", rounds),
        compare("CLI, 1 MB failing log with report", command(tool, str(failing)), pass_, nothing, "<= 16", rounds),
        compare("triage() of 100 KB, warm", lambda: triager.triage(part), "naive loop", naive(compiled, part), "<= 0.35", 3),
        compare("scan in process, times faster", lambda: scan(triager, healthy.read_bytes()), "naive loop", naive(compiled, healthy.read_text()), ">= 350", 3, inverse=True),
        compare("triage() with ten times the rules", lambda: many.triage(dense), "the rules there are", lambda: triager.triage(dense), "<= 1.3", 3),
        *against_searchers(folder, tool, big, every, triager._matcher.literals.literals),
        compare(f"pipe of {megabytes} x 5, share of the throughput", piped(tool, big), "`tee`", piped("tee", big), ">= 0.45", 5, inverse=True),
        compare(f"pipe of {megabytes} x 5, share of the throughput", piped(tool, big), "`cat`", piped("cat", big), "", 5, inverse=True),
        *latency(tool),
        peak_memory(tool, big),
        *[
            compare(f"20 MB of {kind}", command(tool, str(make(folder, kind, 20 * MIB))), "20 MB healthy log", command(tool, str(make(folder, "healthy", 20 * MIB))), "<= 5", 3)
            for kind in ("one line", "NUL", "progress bars", "out of memory", "dense")
        ],
    ]  # fmt: skip


def against_searchers(
    folder: Path, tool: str, log: Path, patterns: Sequence[str], literals: Sequence[str]
) -> list[Row]:
    """Ripgrep and grep, which say that a line matches, and not which of the signatures it is."""
    ours, label = command(tool, str(log)), f"CLI, {log.stat().st_size // MIB} MB healthy log"
    words = folder / "literals"
    words.write_text("".join(f"{literal}\n" for literal in literals))
    rows = []
    if shutil.which("rg"):
        # It has no lookaround, and names its groups once.
        bare = (re.sub(r"\(\?P<\w+>", "(?:", pattern) for pattern in patterns)
        known = [one for one in bare if _compiles(one)]
        expressions = folder / "expressions"
        expressions.write_text("".join(f"{one}\n" for one in known))
        limits = ("--regex-size-limit", "4G", "--dfa-size-limit", "4G")
        peer = f"`rg -i -f`, {len(known)} of {len(patterns)} signatures"
        rows.append(
            compare(
                label,
                ours,
                peer,
                command("rg", "-i", "-c", *limits, "-f", str(expressions), str(log)),
                "<= 1",
                3,
            )
        )
        rows.append(
            compare(
                label,
                ours,
                "`rg -i -F -f`, literals alone",
                command("rg", "-i", "-c", "-F", "-f", str(words), str(log)),
                "",
                5,
            )
        )
    rows.append(
        compare(
            label,
            ours,
            "`grep -i -F -f`, literals alone",
            command("grep", "-i", "-c", "-F", "-f", str(words), str(log)),
            "",
            3,
        )
    )
    return rows  # fmt: skip


def _compiles(pattern: str) -> bool:
    return (
        subprocess.run(["rg", "-e", pattern, "/dev/null"], capture_output=True, check=False).returncode != 2
    )


def scan(triager: Triager, log: bytes) -> None:
    scanner = triager.scanner()
    scanner.feed(log)
    scanner.close()


def _fed(program: str, log: Path, **options: Any) -> subprocess.Popen[bytes]:
    """A program with the log, five times over, on its standard input."""
    cat = subprocess.Popen(["cat", *[str(log)] * 5], stdout=subprocess.PIPE)
    fed = subprocess.Popen([program], stdin=cat.stdout, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)  # fmt: skip
    assert cat.stdout
    cat.stdout.close()
    return fed


def piped(program: str, log: Path) -> Callable[[], object]:
    return lambda: _fed(program, log).wait()


def latency(tool: str) -> list[Row]:
    """What one line takes through the pipe beyond what it takes through `tee`, in microseconds.

    All on one processor: on several, what is measured is how long the kernel takes to wake another one.
    """
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(every)})
    try:
        ours, theirs = _round_trips(tool), _round_trips("tee")
    finally:
        os.sched_setaffinity(0, every)
    return [
        Row(f"latency of a line on one processor, {name}, microseconds more", "`tee`", (ours[at] - theirs[at]) * 1e6, "", target)
        for name, at, target in (("median", len(ours) // 2, "<= 6"), ("99 %", len(ours) * 99 // 100, "<= 150"))
    ]  # fmt: skip


def _round_trips(program: str) -> list[float]:
    lines = KINDS["failing"](400 * 1024).splitlines(keepends=True)[:2000]
    child = subprocess.Popen(
        [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert child.stdin is not None
    assert child.stdout is not None
    to, fro, took = child.stdin.fileno(), child.stdout.fileno(), []
    for line in lines:
        begun = time.perf_counter()
        os.write(to, line)
        os.read(fro, 1 << 16)
        took.append(time.perf_counter() - begun)
    child.stdin.close()
    child.wait()
    return sorted(took[500:])


def peak_memory(tool: str, log: Path) -> Row:
    """Of the whole process, its report included, on a stream of five times the log."""
    # Counted from a small process: what forks it lends its own size to the count.
    count = "import os, sys; pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ); print(os.wait4(pid, 0)[2].ru_maxrss, file=sys.stderr)"
    feed = f'for n in 1 2 3 4 5; do cat "{log}"; done'
    counted = subprocess.run(
        ["sh", "-c", f'{feed} | "$@" >/dev/null', "sh", sys.executable, "-c", count, tool],
        stderr=subprocess.PIPE,
        check=True,
    )
    peak = int(counted.stderr.split()[-1])
    return Row(
        f"peak memory, stream of {log.stat().st_size // MIB} MB x 5, in MB",
        "",
        peak / 1024,
        "",
        "<= 40 before a report",
    )


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
