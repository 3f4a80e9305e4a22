"""Which lines of an attempt can be its root cause, and how likely each is by its form and place alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vllm_triage.diagnose.plain import is_build_error, native_tier
from vllm_triage.lazy import lazy
from vllm_triage.log import chains
from vllm_triage.model import ErrorBlock, Hit, Line, Role

# Look-ups that fail on the way to the real error: they give way to the next link of their chain.
_LOOKUPS = {"StopIteration", "KeyError", "IndexError", "StopAsyncIteration", "Empty"}
_LOOKUPS_IN_CONTEXT = {"AttributeError", "TypeError", "JSONDecodeError", "UnicodeDecodeError", "UnicodeError"}
# Exceptions that only say that another program failed; what that program printed is the cause.
_BUILD_FAILED = lazy(
    r"[Nn]inja build failed|[Cc]ompil\w+ failed|[Ff]ailed to compile|[Bb]uild failed|Error building extension|raised in subprocess"
)
_BUILD_OUTPUT_LINES = 80
_STOPS = {"KeyboardInterrupt", "SystemExit", "CancelledError", "GeneratorExit"}
WRAPPER = 6.0
# A plain line of no known form in which a fallback rule knows the words.
_KNOWN_WORDS = 2.2
_ENVIRONMENT = 0.9
# An exception that ended a thread of a process that lived on.
_THREAD = 0.6


@dataclass(frozen=True)
class Candidate:
    """A line that may be the root cause.

    `tier` is its class by form, lower is likelier: 0 an exception (a compiler's error
    that an exception announces stands before it), 1 native and tool output,
    1.6 an ERROR record, 2 the death of a process, 5 plain words, 6 a wrapper. `passed` says that the start
    went on to its next phase after a mere record or notice, and met an exception there.
    """

    line: Line
    block: ErrorBlock | None
    tier: float
    hits: tuple[Hit, ...] = ()
    passed: bool = False

    @property
    def built(self) -> bool:
        """Whether `line` is the error of a compiler that the exception only announces."""
        return self.tier < 0

    @property
    def role(self) -> Role:
        return self.line.role

    @property
    def explained(self) -> bool:
        return any(
            hit.rule.rank in {"specific", "generic"} and not hit.signature.raised_in for hit in self.hits
        )


def candidates(lines: Sequence[Line], blocks: Iterable[ErrorBlock], hits: Iterable[Hit]) -> list[Candidate]:
    """All candidates among these lines, in the order of the lines."""
    causes: dict[int, list[Hit]] = {}
    wrappers: set[int] = set()
    for hit in hits:
        if hit.rule.rank == "consequence":
            wrappers.add(hit.line.index)
        else:
            causes.setdefault(hit.line.index, []).append(hit)
    found: list[Candidate] = []
    held: set[int] = set()
    for chain in chains(blocks):
        held.update(line.index for block in chain for line in (*block.lines, block.root))
        found += _of_chain(chain, lines, causes, wrappers)
    for line in lines:
        if line.index in held or line.kind in {"aside", "source"}:
            continue
        own = tuple(causes.get(line.index, ()))
        tier = _tier_of_line(line)
        if line.index in wrappers and not _explains(own):
            found.append(Candidate(line, None, WRAPPER, own))
        elif own or (tier is not None and line.kind not in {"info", "warning"}):
            found.append(Candidate(line, None, tier if tier is not None else _KNOWN_WORDS, own))
    return sorted(found, key=lambda candidate: candidate.line.index)


def _of_chain(
    chain: Sequence[ErrorBlock], lines: Sequence[Line], causes: dict[int, list[Hit]], wrappers: set[int]
) -> Iterable[Candidate]:
    """One candidate a link; the link that is the cause by structure has the lowest tier."""
    own = {
        block.lines[0].index: tuple(
            hit for line in dict.fromkeys((*block.lines, block.root)) for hit in causes.get(line.index, ())
        )
        for block in chain
    }
    real = [
        block
        for block in chain
        if _explains(own[block.lines[0].index])
        or not (block.name in _STOPS or {block.lines[0].index, block.root.index} & wrappers)
    ]
    picked = _pick(real)
    for block in chain:
        hits = own[block.lines[0].index]
        if block.level in {"WARNING", "INFO", "DEBUG"}:
            tier = 5.0
        elif block not in real:
            tier = WRAPPER
        elif block.message.endswith(":") and block.root is block.lines[0]:
            # "Error raised in subprocess:" announces what is printed below it.
            tier = 0.3
        elif block.thread:
            tier = _THREAD
        elif any(frame.file.endswith("collect_env.py") for frame in block.frames):
            # The dump of the environment that reports begin with has failures of its own.
            tier = _ENVIRONMENT
        else:
            tier = 0.0 if block is picked else 0.05
        if tier < 1.0 and (built := _build_error(block, lines)):
            yield Candidate(built, block, -0.05, hits)
        else:
            yield Candidate(block.root, block, tier, hits)


def _build_error(block: ErrorBlock, lines: Sequence[Line]) -> Line | None:
    """The compiler's own error of an exception that says no more than that a build failed."""
    if block.name != "CalledProcessError" and not _BUILD_FAILED.search(block.message):
        return None
    inside = next((line for line in block.lines[1:] if is_build_error(line)), None)
    if inside:
        return inside
    offset = lines[0].index if lines else 0
    at = block.lines[0].index - offset
    before = lines[max(0, at - _BUILD_OUTPUT_LINES) : at]
    return next((line for line in before if line.kind in {"plain", "error"} and is_build_error(line)), None)


def _pick(links: Sequence[ErrorBlock]) -> ErrorBlock | None:
    """The first link, unless it is a look-up that failed on the way."""
    for at, block in enumerate(links):
        last = at == len(links) - 1
        sentence = block.name == "KeyError" and len(block.message.split()) >= 5
        lookup = block.name in _LOOKUPS and not sentence
        in_context = block.link == "context" and (
            block.name in _LOOKUPS_IN_CONTEXT or "invalid literal" in block.message
        )
        says_nothing = (
            (not block.message and block.name != "AssertionError")
            or "values to unpack" in block.message
            or block.name == "CalledProcessError"
        )
        if last or not (lookup or in_context or says_nothing):
            return block
    return None


def _tier_of_line(line: Line) -> float | None:
    if line.kind in {"info", "warning"}:
        return 5.0
    native = native_tier(line)
    if line.kind == "error" and any(character.isalnum() for character in line.text):
        # Other programs' loggers call many things an error that vLLM survives.
        own = 1.6 if line.stamp and line.origin and not line.stamp[:4].isdigit() else 2.6
        return min(native, own) if native is not None else own
    return native if line.kind == "plain" else None


def _explains(hits: Iterable[Hit]) -> bool:
    return any(hit.rule.rank in {"specific", "generic"} for hit in hits)
