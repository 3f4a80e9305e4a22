"""`rules list|lint|test|schema|new`: the catalog, for those who read it and those who write it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from vllm_triage.cli import USAGE
from vllm_triage.cli.packs import add_rules_option, with_packs
from vllm_triage.match.text import normalise

if TYPE_CHECKING:
    from vllm_triage.catalog import Problem
    from vllm_triage.catalog.load import RuleSource
    from vllm_triage.catalog.skeleton import Failure
    from vllm_triage.report import Report
    from vllm_triage.report.model import Frame
    from vllm_triage.scan import Scan

# Lines around the error that become the example.
_BEFORE, _AFTER = 12, 2
_MIN_SHARED = 16


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("rules", help="the catalog of rules")
    actions = parser.add_subparsers(dest="action", metavar="list|lint|test|schema|new", required=True)

    listing = actions.add_parser("list", help="all rules, one a line")
    add_rules_option(listing)
    listing.set_defaults(act=_list)

    for name, act, text in (
        ("lint", _lint, "say what rules lack"),
        ("test", _test, "run the rules' own examples"),
    ):
        made = actions.add_parser(name, help=text)
        made.add_argument(
            "paths",
            nargs="*",
            type=Path,
            metavar="PATH",
            help="rule file or folder; by default the built-in rules",
        )
        made.set_defaults(act=act)

    schema = actions.add_parser("schema", help="the JSON Schema of a rule file, for editors")
    schema.set_defaults(act=_schema)

    new = actions.add_parser("new", help="write the skeleton of a rule from a failure that no rule knows")
    new.add_argument("log", metavar="LOG", help="the log of the failure; - for standard input")
    new.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="write it there; an existing file is kept"
    )
    add_rules_option(new)
    new.set_defaults(act=_new)


def run(args: argparse.Namespace) -> int:
    """Run the chosen action: 0, 1 if rules or the log are not as they should be, 2 for a wrong path."""
    from vllm_triage.catalog import CatalogError

    try:
        return int(args.act(args))
    except CatalogError as error:
        return _tell(error.problems)


def _list(args: argparse.Namespace) -> int:
    from vllm_triage.catalog import load_catalog

    catalog = with_packs(load_catalog, args.rules)
    rules = sorted(catalog.rules.values(), key=lambda rule: (rule.family, rule.id))
    rows = [
        (
            rule.id,
            rule.family,
            rule.rank,
            rule.title + " (replaces a built-in rule)" * (rule.id in catalog.replaced),
        )
        for rule in rules
    ]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, [*widths, 0], strict=True)))
    return 0


def _lint(args: argparse.Namespace) -> int:
    from vllm_triage.catalog import CatalogError, builtin_catalog
    from vllm_triage.catalog.lint import Surroundings, lint
    from vllm_triage.probes.checks import CHECKS
    from vllm_triage.remedy.derive import FUNCTIONS

    if missing := _missing(args.paths):
        return missing
    rules, problems = _read(args.paths)
    ids = {one.rule.id for one in rules}
    try:
        ids |= builtin_catalog().rules.keys()
    except CatalogError as error:
        problems += error.problems if args.paths else ()
    around = Surroundings(rule_ids=ids, functions=FUNCTIONS, checks=CHECKS, lines=_lines)
    return _tell([*problems, *lint(rules, around)], f"{_count(len(rules), 'rule')}, nothing to mend")


def _test(args: argparse.Namespace) -> int:
    from vllm_triage.catalog.examples import failing_examples
    from vllm_triage.pipeline import Triager

    if missing := _missing(args.paths):
        return missing
    rules, problems = _read(args.paths)
    if problems:
        return _tell(problems)
    triager = Triager(rules=args.paths)
    examples = sum(len(one.rule.examples) for one in rules)
    return _tell(
        failing_examples(rules, triager.triage),
        f"{_count(len(rules), 'rule')}, {_count(examples, 'example')}, all as they should be",
    )


def _schema(args: argparse.Namespace) -> int:
    import json

    from vllm_triage.catalog.schema import json_schema

    print(json.dumps(json_schema(), indent=2))
    return 0


def _new(args: argparse.Namespace) -> int:
    from vllm_triage import __version__
    from vllm_triage.catalog.skeleton import skeleton
    from vllm_triage.cli.inputs import InputError
    from vllm_triage.pipeline import Triager

    triager = with_packs(lambda packs: Triager(rules=packs), args.rules)
    scanner = triager.scanner()
    try:
        for chunk in _chunks(args.log):
            scanner.feed(chunk)
    except InputError as error:
        return _refuse(str(error))
    scan = scanner.close()
    report = triager.report_of(scan)
    if report.root_error is None:
        print(f"vllm-triage: {args.log}: no error to make a rule of ({report.verdict})", file=sys.stderr)
        return 1
    if report.cause:
        print(f"vllm-triage: the rule {report.cause.rule} names this failure already", file=sys.stderr)
    text = skeleton(_failure(report, scan), since=__version__)
    if args.output is None:
        print(text, end="")
        return 0
    try:
        with args.output.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        return _refuse(f"{args.output}: {error.strerror}: choose another file with -o")
    return 0


def _failure(report: Report, scan: Scan) -> Failure:
    from vllm_triage.catalog.skeleton import Failure
    from vllm_triage.redact import redact

    root = report.root_error
    assert root is not None
    wanted = range(root.line - _BEFORE, root.line + _AFTER + 1)
    lines = {number: redact(text) for region in scan.regions for number, text in region if number in wanted}
    return Failure(
        type=root.type,
        message=_within(lines.get(root.line, ""), normalise(root.message)),
        lines=list(lines.values()) or [root.message],
        phase=report.context.phase,
        place=_place(root.frames[-1]) if root.frames else None,
    )


def _within(line: str, message: str) -> str:
    """The part of a message that stands in its first line: a pattern sees no more than one."""
    line = normalise(line)
    start = line.find(message[:_MIN_SHARED])
    if start < 0:
        return message
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(message, line[start:], strict=False))
    return "".join(ours for ours, _ in pairs)


def _place(frame: Frame) -> str | None:
    """`path:function` if the frame is vLLM's own."""
    before, _, path = frame.file.replace("\\", "/").rpartition("/vllm/")
    return f"{path}:{frame.function.rpartition('.')[2]}" if before else None


def _chunks(name: str) -> Iterable[bytes]:
    """The log's bytes.

    Raises:
        InputError: It is missing, unreadable or no text.
    """
    from vllm_triage.cli.inputs import find_files

    if name == "-":
        yield sys.stdin.buffer.read()
        return
    for path in find_files([name]):
        yield path.read_bytes()


def _read(paths: Sequence[Path]) -> tuple[list[RuleSource], list[Problem]]:
    """The rules of the paths, or the built-in ones, and the problems of files that hold none."""
    from vllm_triage.catalog.load import read_pack
    from vllm_triage.catalog.locate import builtin_rules

    rules: list[RuleSource] = []
    problems: list[Problem] = []
    for pack in paths or [builtin_rules()]:
        found, faults = read_pack(pack)
        rules += found
        problems += faults
    return rules, problems


def _lines(log: str) -> list[str]:
    """The lines of a log as patterns see them."""
    from vllm_triage.log import parse
    from vllm_triage.scan import Scanner

    scanner = Scanner()
    scanner.feed(log.encode("utf-8", "replace"))
    scan = scanner.close()
    return [normalise(line.text) for line in parse(scan.regions, scan.total_lines)]


def _missing(paths: Iterable[Path]) -> int:
    """The exit status for paths that are not there, else 0."""
    gone = [path for path in paths if not path.exists()]
    return _refuse("\n".join(f"{path}: no such file or folder" for path in gone)) if gone else 0


def _refuse(text: str) -> int:
    print(f"vllm-triage: {text}", file=sys.stderr)
    return USAGE


def _tell(problems: Iterable[Problem], else_: str = "") -> int:
    """Print the problems as they come, or the other text if there are none; the exit status."""
    found = 0
    for problem in problems:
        print(problem)
        found += 1
    print(_count(found, "problem") if found else else_)
    return 1 if found else 0


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
