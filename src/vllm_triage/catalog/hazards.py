"""What makes a pattern slow, dead or unportable, read off its parse tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import inf

from vllm_triage.catalog.literals import required_literals
from vllm_triage.catalog.parsetree import REPEATS, Node, parse
from vllm_triage.catalog.steady import STEADY

MIN_LITERAL = 5
# So many ways may two repeats, one within the other, share the same text.
_MAX_NESTED = 1000


def hazards(pattern: str) -> Iterator[tuple[str, str]]:
    """Name of the check and message for everything that a pattern should not be.

    Raises:
        re.error: if it is no pattern of `re`.
    """
    literals = required_literals(pattern)
    shortest = min(literals, key=len, default="")
    if len(shortest) < MIN_LITERAL:
        message = f"expected {MIN_LITERAL} or more characters that every match contains, got {shortest!r}"
        yield "short-literal", message
    elif noisy := [literal for literal in literals if literal in STEADY]:
        message = f"expected words that a healthy server does not log for weeks, got {noisy[0]!r}"
        yield "noisy-literal", message
    if "  " in pattern:
        yield "two-blanks", "expected single blanks, got two: a pattern sees runs of blanks as one"
    nodes = parse(pattern)
    if _leads_with_gap(nodes):
        yield "leading-gap", "expected a pattern that begins with its words, got a gap: leave it out"
    if any(_open_gaps(nodes, followed=False)):
        yield "open-gap", "expected a bounded gap such as .{0,80}?, got one without limit"
    if any(_nested(nodes, 1)):
        yield "nested-repeat", "expected no repeat within a repeat, got one that can take very long"
    if any(node.op in {"ATOMIC_GROUP", "POSSESSIVE_REPEAT"} for node in _all(nodes)):
        yield "new-syntax", "expected syntax that Python 3.10 knows, got an atomic group or possessive repeat"


def _all(nodes: Iterable[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        for branch in node.branches:
            yield from _all(branch)


def _is_gap(node: Node) -> bool:
    """Whether it takes any characters, as `.*` and `.{0,80}?` do."""
    if node.op not in REPEATS or node.low == node.high:
        return False
    body = node.branches[0]
    return len(body) == 1 and (
        body[0].op == "ANY" or (body[0].op == "NOT_LITERAL" and body[0].arg == ord("\n"))
    )


def _leads_with_gap(nodes: Sequence[Node]) -> bool:
    first = next((node for node in nodes if node.op != "AT"), None)
    if first is None:
        return False
    return _is_gap(first) or (
        first.op in {"SUBPATTERN", "BRANCH"} and any(_leads_with_gap(branch) for branch in first.branches)
    )


def _open_gaps(nodes: Sequence[Node], *, followed: bool) -> Iterator[Node]:
    """Gaps without limit that must find something behind them; at the very end one does no harm."""
    for at, node in enumerate(nodes):
        more = followed or at + 1 < len(nodes)
        if more and _is_gap(node) and node.high is None:
            yield node
        for branch in node.branches:
            yield from _open_gaps(branch, followed=more)


def _nested(nodes: Iterable[Node], around: float) -> Iterator[Node]:
    """Repeats of a changing length within repeats of a changing number, unless both are small."""
    for node in nodes:
        rounds: float = 1
        if node.op in REPEATS and node.low != node.high:
            rounds = inf if node.high is None else node.high
        if around > 1 and rounds > 1 and around * rounds >= _MAX_NESTED:
            yield node
        for branch in node.branches:
            yield from _nested(branch, max(around * rounds, 1))
