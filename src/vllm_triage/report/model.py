"""The public answer: what `triage()` returns and `--format json` prints, key by key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SCHEMA_VERSION = 1

Status = Literal["confirmed", "likely", "possible", "refuted"]
Scalar = str | int | float | bool


Part = TypeVar("Part", bound="_Part")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Part:
    """A frozen part of the answer, with the methods of a pydantic model.

    Pydantic does what they promise, and is imported when the first of them is called: its import takes as
    long as everything else that a report for people needs. For the same reason equality and the like are
    written here once, and not by `dataclass` for each part.
    """

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"
        )

    def model_dump(self, *, mode: Literal["python", "json"] = "python") -> dict[str, Any]:
        made: dict[str, Any] = _adapter(type(self)).dump_python(self, mode=mode)
        return made

    def model_dump_json(self, *, indent: int | None = None) -> str:
        return _adapter(type(self)).dump_json(self, indent=indent).decode()

    def model_copy(self: Part, *, update: Mapping[str, Any] | None = None) -> Part:
        return replace(self, **(update or {}))

    @classmethod
    def model_validate(cls: type[Part], data: Any) -> Part:
        """Raises pydantic.ValidationError where the data is none."""
        made: Part = _adapter(cls).validate_python(data)
        return made

    @classmethod
    def model_validate_json(cls: type[Part], text: str | bytes) -> Part:
        """Raises pydantic.ValidationError where the text is none."""
        made: Part = _adapter(cls).validate_json(text)
        return made

    @classmethod
    def model_json_schema(
        cls, *, mode: Literal["validation", "serialization"] = "validation"
    ) -> dict[str, Any]:
        return _adapter(cls).json_schema(mode=mode)


_adapters: dict[str, TypeAdapter[Any]] = {}


def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    if kind.__name__ not in _adapters:
        _adapters[kind.__name__] = TypeAdapter(kind)
    return _adapters[kind.__name__]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Evidence(_Part):
    """A line that speaks for a diagnosis: `text` is its message without carrier, prefix and stamp."""

    source: str = field(
        metadata={"description": "the file the line is from; empty where the input has no name"}
    )
    line: int = field(metadata={"description": "newlines of the input, counted from 1"})
    text: str
    process: str = field(metadata={"description": "the name in the line's prefix; empty without one"})
    signature: str = field(metadata={"description": "the signature of the rule that fits the line"})


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Check(_Part):
    """What the machine says about a diagnosis."""

    check: str
    outcome: Literal["confirms", "refutes", "unknown"]
    detail: str
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Remedy(_Part):
    """What to do, for a person (`command`, `steps`) and for a program (`set_args` and so on)."""

    title: str
    why: str | None = None
    risk: Literal["safe", "disruptive", "destructive"]
    command: str | None = field(default=None, metadata={"description": "one line, quoted for a POSIX shell"})
    steps: tuple[str, ...] = ()
    set_args: dict[str, Scalar] = field(
        default_factory=dict, metadata={"description": "options of `vllm serve`, without dashes"}
    )
    unset_args: tuple[str, ...] = ()
    set_env: dict[str, str] = field(default_factory=dict)
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


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Finding(_Part):
    rule: str
    family: str
    title: str
    summary: str | None = field(
        metadata={"description": "null where the log does not hold its figures: the title stands alone"}
    )
    confidence: float = field(metadata={"ge": 0, "le": 1})
    status: Status
    evidence: tuple[Evidence, ...] = field(metadata={"description": "[0] is the root line"})
    fields: dict[str, Scalar]
    checks: tuple[Check, ...]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Diagnosis(_Finding):
    """A cause of the failure."""

    remedies: tuple[Remedy, ...]
    retry: Literal["retry", "change", "hardware", "unknown"] = field(
        metadata={"description": "whether starting again unchanged can help"}
    )
    references: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Notice(_Finding):
    """Something that went wrong and did not stop the server."""

    retry: Literal["retry", "change", "hardware", "unknown"]
    references: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Consequence(_Part):
    """A follow-up of the failure, which is never its cause."""

    rule: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Frame(_Part):
    """One frame of a traceback."""

    file: str
    line: int
    function: str


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ChainLink(_Part):
    """One exception of a chain; `link` says how it led to the next one."""

    type: str
    message: str
    line: int
    link: Literal["cause", "context"] | None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RootError(_Part):
    """The error that the failure goes back to, known or not."""

    type: str | None = field(metadata={"description": "null where it is no exception"})
    message: str
    process: str
    line: int
    frames: tuple[Frame, ...] = ()
    chain: tuple[ChainLink, ...] = field(
        default=(), metadata={"description": "in the order of the log, this error included"}
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PhaseTime(_Part):
    """When a phase of the start began, and how long it took where the log tells."""

    phase: str
    seconds: float | None
    line: int


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Context(_Part):
    """What the log tells about the start."""

    vllm_version: str | None = None
    engine: Literal["v0", "v1"] | None = None
    model: str | None = None
    device: str | None = None
    args: dict[str, Any] = field(default_factory=dict)
    memory: dict[str, float] = field(default_factory=dict)
    phase: str | None = None
    attempts: int = 1
    timeline: tuple[PhaseTime, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Probes(_Part):
    """Whether the machine was asked to confirm or refute."""

    ran: bool = False
    reason: str | None = field(default=None, metadata={"description": "why it was not asked"})
    problems: dict[str, str] = field(
        default_factory=dict, metadata={"description": "parts that did not answer, and why"}
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Report(_Part):
    """The answer to one log."""

    schema_version: int = SCHEMA_VERSION
    tool_version: str
    catalog_version: str
    verdict: Literal["failed", "healthy", "inconclusive"]
    provisional: bool = field(default=False, metadata={"description": "true while the process lives on"})
    diagnoses: tuple[Diagnosis, ...] = field(
        default=(), metadata={"description": "ranked; [0] is the root cause, refuted ones stand last"}
    )
    notices: tuple[Notice, ...] = ()
    consequences: tuple[Consequence, ...] = ()
    root_error: RootError | None = None
    missing: str | None = field(
        default=None, metadata={"description": "which part of the log is not there, and how to get it"}
    )
    context: Context = field(default_factory=Context)
    probes: Probes = field(default_factory=Probes)
    # For the reader of the terminal view; a program asks for a cause or none.
    nearest: tuple[str, ...] = field(default=(), metadata={"exclude": True})

    @property
    def cause(self) -> Diagnosis | None:
        """The first diagnosis that is not refuted."""
        return next((diagnosis for diagnosis in self.diagnoses if diagnosis.status != "refuted"), None)
