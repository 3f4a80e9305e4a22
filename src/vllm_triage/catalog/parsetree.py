"""The parse tree of a pattern, as the standard library builds it, whatever the Python."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any, NamedTuple

_parser: Any = import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")

REPEATS = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})
LOOKAROUNDS = frozenset({"ASSERT", "ASSERT_NOT"})


class Node(NamedTuple):
    """One item of a concatenation.

    `low` and `high` are the bounds of a repeat (`high` is None without limit); `branches` are the
    alternatives below it, one for everything but an alternation.
    """

    op: str
    arg: Any
    branches: tuple[tuple[Node, ...], ...] = ()
    low: int = 1
    high: int | None = 1


def parse(pattern: str) -> tuple[Node, ...]:
    """The concatenation that the pattern is.

    Raises:
        re.error: if it is no pattern of `re`.
    """
    return _nodes(_parser.parse(pattern))


def _nodes(items: Iterable[tuple[Any, Any]]) -> tuple[Node, ...]:
    return tuple(_node(op.name, arg) for op, arg in items)


def _node(op: str, arg: Any) -> Node:
    if op in REPEATS:
        low, high, body = arg
        return Node(op, arg, (_nodes(body),), low, None if high is _parser.MAXREPEAT else high)
    if op == "SUBPATTERN":
        return Node(op, arg, (_nodes(arg[-1]),))
    if op == "BRANCH":
        return Node(op, arg, tuple(_nodes(branch) for branch in arg[1]))
    if op == "ATOMIC_GROUP":
        return Node(op, arg, (_nodes(arg),))
    if op in LOOKAROUNDS:
        return Node(op, arg, (_nodes(arg[1]),))
    if op == "GROUPREF_EXISTS":
        return Node(op, arg, tuple(_nodes(branch) for branch in arg[1:] if branch is not None))
    return Node(op, arg)
