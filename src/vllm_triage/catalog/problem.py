"""What is wrong with a rule file, as data that prints as one line an editor can jump to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One fault of one file; `line` and `column` count from 1, `key` is the path of the key in the file.

    `check` is the name of the lint that found it; a file that breaks the format has none.
    """

    file: str
    line: int
    column: int
    key: str
    message: str
    check: str = ""

    def __str__(self) -> str:
        key = f"{self.key}: " if self.key else ""
        check = f" [{self.check}]" if self.check else ""
        return f"{self.file}:{self.line}:{self.column}: {key}{self.message}{check}"


class CatalogError(Exception):
    """Rule files that cannot be used; `problems` holds every fault, and the text is one line each."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems))
        super().__init__("\n".join(map(str, self.problems)))
