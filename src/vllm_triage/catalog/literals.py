"""From a pattern to the literals that find its candidate lines: every match contains one of them."""

from __future__ import annotations

from collections.abc import Iterable

from vllm_triage.catalog.parsetree import LOOKAROUNDS, REPEATS, Node, parse
from vllm_triage.catalog.steady import STEADY
from vllm_triage.lazy import lazy

# Words that healthy logs are full of: a literal made of them makes many lines candidates.
_COMMON = lazy(
    r"error|fail(?:ed)?|memory|model|config|cuda|torch|vllm|value|runtime|exception|invalid|import|python|process"
    r"|engine|worker|device|cannot|could not|found|loading|version|supported|expected"
)
_COMMON_WEIGHT = 0.25


def required_literals(pattern: str) -> tuple[str, ...]:
    """An any-of set of lower-case ASCII literals: every caseless match of the pattern contains one.

    Empty if no part of the pattern is certain. Of several possible sets it is the one whose weakest
    literal is the longest, common words counting less.

    Raises:
        re.error: if it is no pattern of `re`.
    """
    return tuple(sorted(_best(parse(pattern))))


def _best(nodes: Iterable[Node]) -> frozenset[str]:
    reader = _Reader()
    reader.read(nodes)
    reader.end_run()
    return max(reader.sets, key=_strength, default=frozenset())


def _strength(literals: frozenset[str]) -> tuple[float, int]:
    return min(map(_rarity, literals)), -len(literals)


def _rarity(literal: str) -> float:
    if literal in STEADY:
        return 0.0
    common = sum(len(word) for word in _COMMON.findall(literal))
    return len(literal) - (1 - _COMMON_WEIGHT) * common


class _Reader:
    """Reads a concatenation; `sets` are the any-of sets that it holds, each of them sufficient."""

    def __init__(self) -> None:
        self.sets: list[frozenset[str]] = []
        self._run = ""

    def read(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            if node.op in {"LITERAL", "IN"}:
                self._character(node)
            elif node.op in {"SUBPATTERN", "ATOMIC_GROUP"}:
                self.read(node.branches[0])
            elif node.op in REPEATS and node.low >= 1:
                # The first round follows what is before it; what comes after may follow any round.
                self.read(node.branches[0])
                if node.high != 1:
                    self.end_run()
            elif node.op == "BRANCH":
                self.end_run()
                self._alternatives(node)
            elif node.op != "AT" and node.op not in LOOKAROUNDS:
                self.end_run()

    def end_run(self) -> None:
        # Blanks at its ends make a literal no rarer, only easier to miss.
        literal = self._run.strip()
        if literal:
            self.sets.append(frozenset({literal}))
        self._run = ""

    def _character(self, node: Node) -> None:
        character = _single(node)
        if character is None:
            self.end_run()
        else:
            self._run += character

    def _alternatives(self, node: Node) -> None:
        best = [_best(branch) for branch in node.branches]
        if all(best):
            union = frozenset().union(*best)
            self.sets.append(
                frozenset(one for one in union if not any(other in one for other in union if other != one))
            )


def _single(node: Node) -> str | None:
    """The one printable ASCII character, capitals folded, that a character or class stands for."""
    if node.op == "LITERAL":
        return chr(node.arg).lower() if 32 <= node.arg < 127 else None
    if any(op.name != "LITERAL" or not 32 <= code < 127 for op, code in node.arg):
        return None
    folded = {chr(code).lower() for _, code in node.arg}
    return folded.pop() if len(folded) == 1 else None
