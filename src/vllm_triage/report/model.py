"""The public answer: what `triage()` returns and `--format json` prints, key by key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_VERSION = 1

Status = Literal["confirmed", "likely", "possible", "refuted"]
Scalar = str | int | float | bool


class _Frozen(BaseModel):
    # Built when first validated or dumped: a report for people never is.
    model_config = ConfigDict(frozen=True, defer_build=True)


class Evidence(_Frozen):
    """A line that speaks for a diagnosis: `text` is its message without carrier, prefix and stamp."""

    source: str = Field(description="the file the line is from; empty where the input has no name")
    line: int = Field(description="newlines of the input, counted from 1")
    text: str
    process: str = Field(description="the name in the line's prefix; empty without one")
    signature: str = Field(description="the signature of the rule that fits the line")


class Check(_Frozen):
    """What the machine says about a diagnosis."""

    check: str
    outcome: Literal["confirms", "refutes", "unknown"]
    detail: str
    facts: dict[str, Any] = {}


class Remedy(_Frozen):
    """What to do, for a person (`command`, `steps`) and for a program (`set_args` and so on)."""

    title: str
    why: str | None = None
    risk: Literal["safe", "disruptive", "destructive"]
    command: str | None = Field(default=None, description="one line, quoted for a POSIX shell")
    steps: tuple[str, ...] = ()
    set_args: dict[str, Scalar] = Field(default={}, description="options of `vllm serve`, without dashes")
    unset_args: tuple[str, ...] = ()
    set_env: dict[str, str] = {}
    unset_env: tuple[str, ...] = ()

    def apply(
        self, argv: Sequence[str], env: Mapping[str, str], model: str | None = None
    ) -> tuple[list[str], dict[str, str]]:
        """A command line and an environment with this remedy's changes; neither argument is changed.

        Args:
            argv: The words of the command as it was started, such as ["vllm", "serve", "MODEL", ...].
            env: Its variables.
            model: What is served, where it stands right after a flag and could be taken for its value.
        """
        from vllm_triage.remedy.apply import apply_args

        variables = {name: value for name, value in env.items() if name not in self.unset_env}
        return apply_args(argv, self.set_args, self.unset_args, model), variables | self.set_env


class _Finding(_Frozen):
    rule: str
    family: str
    title: str
    summary: str | None = Field(
        description="null where the log does not hold its figures: the title stands alone"
    )
    confidence: float = Field(ge=0, le=1)
    status: Status
    evidence: tuple[Evidence, ...] = Field(description="[0] is the root line")
    fields: dict[str, Scalar]
    checks: tuple[Check, ...]


class Diagnosis(_Finding):
    """A cause of the failure."""

    remedies: tuple[Remedy, ...]
    retry: Literal["retry", "change", "hardware", "unknown"] = Field(
        description="whether starting again unchanged can help"
    )
    references: tuple[str, ...]


class Notice(_Finding):
    """Something that went wrong and did not stop the server."""

    retry: Literal["retry", "change", "hardware", "unknown"]
    references: tuple[str, ...]


class Consequence(_Frozen):
    """A follow-up of the failure, which is never its cause."""

    rule: str
    evidence: tuple[Evidence, ...]


class Frame(_Frozen):
    """One frame of a traceback."""

    file: str
    line: int
    function: str


class ChainLink(_Frozen):
    """One exception of a chain; `link` says how it led to the next one."""

    type: str
    message: str
    line: int
    link: Literal["cause", "context"] | None


class RootError(_Frozen):
    """The error that the failure goes back to, known or not."""

    type: str | None = Field(description="null where it is no exception")
    message: str
    process: str
    line: int
    frames: tuple[Frame, ...] = ()
    chain: tuple[ChainLink, ...] = Field(
        default=(), description="in the order of the log, this error included"
    )


class PhaseTime(_Frozen):
    """When a phase of the start began, and how long it took where the log tells."""

    phase: str
    seconds: float | None
    line: int


class Context(_Frozen):
    """What the log tells about the start."""

    vllm_version: str | None = None
    engine: Literal["v0", "v1"] | None = None
    model: str | None = None
    device: str | None = None
    args: dict[str, Any] = {}
    memory: dict[str, float] = {}
    phase: str | None = None
    attempts: int = 1
    timeline: tuple[PhaseTime, ...] = ()


class Probes(_Frozen):
    """Whether the machine was asked to confirm or refute."""

    ran: bool = False
    reason: str | None = Field(default=None, description="why it was not asked")
    problems: dict[str, str] = Field(default={}, description="parts that did not answer, and why")


class Report(_Frozen):
    """The answer to one log."""

    schema_version: int = SCHEMA_VERSION
    tool_version: str
    catalog_version: str
    verdict: Literal["failed", "healthy", "inconclusive"]
    provisional: bool = Field(default=False, description="true while the process lives on")
    diagnoses: tuple[Diagnosis, ...] = Field(
        default=(), description="ranked; [0] is the root cause, refuted ones stand last"
    )
    notices: tuple[Notice, ...] = ()
    consequences: tuple[Consequence, ...] = ()
    root_error: RootError | None = None
    missing: str | None = Field(
        default=None, description="which part of the log is not there, and how to get it"
    )
    context: Context = Context()
    probes: Probes = Probes()
    # For the reader of the terminal view; a program asks for a cause or none.
    nearest: tuple[str, ...] = Field(default=(), exclude=True)

    @property
    def cause(self) -> Diagnosis | None:
        """The first diagnosis that is not refuted."""
        return next((diagnosis for diagnosis in self.diagnoses if diagnosis.status != "refuted"), None)
