"""The vocabulary: what the stages hand to each other, as frozen data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from vllm_triage.catalog.rule import Phase, Rule, Signature

_NOTHING: Mapping[str, Any] = MappingProxyType({})

LineKind = Literal["exception", "error", "warning", "info", "plain", "source", "aside"]
Verdict = Literal["failed", "healthy", "inconclusive"]


class Role(IntEnum):
    """Where a process stands in vLLM's process tree; a lower one is nearer to the cause."""

    WORKER = 0
    ENGINE = 1
    UNKNOWN = 2
    SERVER = 3


class Line(NamedTuple):
    """One line of the log without carrier, colours, process prefix and time stamp.

    `number` counts newlines of the input from 1; parts of one input line share it. `index` is the
    line's place in the Log. `kind` says what may be found in it: "aside" lines (config echoes,
    access lines, environment dumps) are never looked at.
    """

    index: int  # type: ignore[assignment]  # hides the method of a tuple
    number: int
    text: str
    process: str = ""
    pid: int | None = None
    level: str = ""
    origin: str = ""
    stamp: str = ""
    kind: LineKind = "plain"
    source: str = ""

    @property
    def role(self) -> Role:
        name = self.process
        if name.startswith(("Worker", "VllmWorker", "RayWorker")):
            return Role.WORKER
        if name.startswith(("EngineCore", "DPEngineCore", "LLMRayActor")):
            return Role.ENGINE
        if name.startswith(("APIServer", "ApiServer", "DPSupervisor", "VLLM_DP_Coordinator")):
            return Role.SERVER
        return Role.UNKNOWN


class Frame(NamedTuple):
    """One frame of a traceback, as printed."""

    file: str
    line: int
    function: str
    source: str = ""


class ErrorBlock(NamedTuple):
    """One exception as printed: its frames, its last line and what continues that line.

    `lines[0]` is the line with the type; `root` is the line of the block that says most (the
    "Value error, ..." line of a pydantic error, the source line of a bare assertion).
    `link` says how the block leads to the next one of its chain: "cause" (direct cause),
    "context" (during handling), or None for the last. `thread` names the thread that it ended, if the
    process lived on.
    """

    type: str
    message: str
    lines: tuple[Line, ...]
    root: Line
    frames: tuple[Frame, ...] = ()
    process: str = ""
    level: str = ""
    link: Literal["cause", "context"] | None = None
    chain: int = 0
    thread: str = ""

    @property
    def name(self) -> str:
        """The type without its module."""
        return self.type.rpartition(".")[2]


class Attempt(NamedTuple):
    """One start of the server within the log: the half-open range [start, end) of line indexes."""

    start: int
    end: int
    ready: Line | None = None
    shutdown: Line | None = None


class Region(NamedTuple):
    """A run of consecutive lines that was kept."""

    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Log:
    """What the log says, taken apart: regions of lines, exceptions, attempts.

    `marks` are the (index, phase) of the lines at which a phase of the start begins. `cut_off` is the last
    line where the log ends in the middle of a traceback.
    """

    regions: tuple[Region, ...]
    blocks: tuple[ErrorBlock, ...]
    attempts: tuple[Attempt, ...]
    total_lines: int
    marks: tuple[tuple[int, Phase], ...] = ()
    cut_off: Line | None = None
    looks_like_vllm: bool = True

    def __iter__(self) -> Iterator[Line]:
        for region in self.regions:
            yield from region.lines

    def line(self, number: int) -> Line | None:
        """The first kept line with this number of the input, or None if it was not kept."""
        return next((line for line in self if line.number == number), None)


class Hit(NamedTuple):
    """A signature that fits a line: `fields` are its named groups as text."""

    rule: Rule
    signature: Signature
    line: Line
    fields: Mapping[str, str] = _NOTHING
    block: ErrorBlock | None = None
    similarity: float = 1.0


class CheckResult(NamedTuple):
    """What the machine says about a finding, with the figures behind it."""

    check: str
    outcome: Literal["confirms", "refutes", "unknown"]
    detail: str
    facts: Mapping[str, Any] = _NOTHING


class Finding(NamedTuple):
    """One rule as an answer, with what speaks for it; `evidence[0]` holds the root line."""

    rule: Rule
    confidence: float
    evidence: tuple[Hit, ...]
    fields: dict[str, int | float | str]
    checks: tuple[CheckResult, ...] = ()

    @property
    def refuted(self) -> bool:
        """Whether the machine speaks against it; one check is enough."""
        return any(check.outcome == "refutes" for check in self.checks)

    @property
    def confirmed(self) -> bool:
        return not self.refuted and any(check.outcome == "confirms" for check in self.checks)


class Loss(NamedTuple):
    """A hit that is not the cause, and why: for --debug."""

    hit: Hit
    reason: str


class Context(NamedTuple):
    """What the log tells about the start, whatever became of it.

    `memory` holds figures by name: weights_gib, kv_cache_gib, graphs_gib, kv_cache_tokens. `argv` is the
    command line as it was typed, where the log shows it or the process that writes it is known.
    """

    vllm_version: str | None = None
    engine: Literal["v0", "v1"] | None = None
    model: str | None = None
    device: str | None = None
    args: Mapping[str, Any] = _NOTHING
    memory: Mapping[str, float] = _NOTHING
    phase: Phase | None = None
    attempts: int = 1
    timeline: tuple[tuple[str, float | None, int], ...] = ()
    argv: tuple[str, ...] = ()


@dataclass(frozen=True)
class Origin:
    """The process on this host that writes the log; `variables` hold its secrets and stay in memory."""

    argv: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    folder: str | None = None
    pid: int | None = None


class Ending(NamedTuple):
    """What is known of a process beside its log.

    `status` is its exit status, -n if signal n ended it (as `subprocess` has it), None if it is not known;
    `silent_s` are the seconds since it last wrote, None if it has ended; `told` is whether a signal that
    asks for an end was passed on to it; `oom_kills` is how many processes the kernel killed for memory
    while it ran, None where nothing counts them.
    """

    status: int | None = None
    silent_s: float | None = None
    told: bool = False
    oom_kills: int | None = None

    @property
    def signal(self) -> int | None:
        """The signal that ended the process; a shell or a container says 128 + n."""
        if self.status is None or 0 <= self.status <= 128:
            return None
        return -self.status if self.status < 0 else self.status - 128


class Probing(NamedTuple):
    """Whether the machine was asked, why not, and which parts of it did not answer (by name, with the reason)."""

    ran: bool = False
    reason: str | None = None
    problems: Mapping[str, str] = _NOTHING


class Outcome(NamedTuple):
    """Everything diagnosed about a log."""

    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    notices: tuple[Finding, ...] = ()
    consequences: tuple[Hit, ...] = ()
    root: ErrorBlock | Line | None = None
    chain: Sequence[ErrorBlock] = ()
    missing: str | None = None
    nearest: tuple[tuple[str, float], ...] = ()
    losses: tuple[Loss, ...] = ()
    context: Context = Context()
    probing: Probing = Probing()
