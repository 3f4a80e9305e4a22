"""What stands before a message: process prefixes, time stamps and levels of all writers into one log."""

from __future__ import annotations

import re
from typing import NamedTuple

from vllm_triage.lazy import lazy

# "(Worker_TP0 pid=12) ", "(VllmWorker rank=0 pid=12) ", "(RayWorkerWrapper pid=3, ip=10.0.0.7) ", "(raylet) "
_PROCESS = lazy(
    r"\s{0,8}\*{0,2}\((?:(?P<name>[A-Za-z_][^()]{0,60}?) )?pid=(?P<pid>\d{1,10})(?:, ip=[^)]{1,60})?\)\*{0,2}(?: |$|(?=\())"
    r"|\((?P<ray>raylet|autoscaler)[^)]{0,60}\) "
)
# vLLM's own stamp in both bracket forms; what stands before the level is VLLM_LOGGING_PREFIX.
_VLLM = lazy(
    r"(?:[^\s()]{0,40}?|\[[^\]]{1,40}\] ?)(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL) "
    r"(?P<stamp>\d\d-\d\d \d\d:\d\d:\d\d) \[?(?P<origin>[\w./\-]{1,120}:\d+)\] ?"
)
# A record that begins in the middle of a line: two processes, or a progress bar, share a pipe.
_RECORD = lazy(
    r"(?:\([A-Za-z_][^()]{0,60}? pid=\d{1,10}\) ?)?(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d \[?[\w./\-]{1,120}:\d+\]"
)
_CLOCK = lazy(r" \d\d-\d\d \d\d:\d\d:\d\d ")
# The end of a progress bar that has no line end of its own, with another writer's text glued to it.
_BAR_END = lazy(r"(?<=(?:it/s|s/it|.B/s)\])(?=\s*\S)")
_OTHERS = tuple(
    lazy(pattern)
    for pattern in (
        # uvicorn: "ERROR:    [Errno 98] ..."
        r"(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL):(?: {2,}|\t)",
        # logging's default: "ERROR:vllm.engine:text"
        r"(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL):(?P<origin>[\w.]{1,60}):",
        # Ray's Python side: "2024-06-13 16:11:50,396\tINFO worker.py:1752 -- text"
        r"(?P<stamp>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),\d{3}\s(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL) (?P<origin>[\w./]{1,80}:\d+) -- ",
        # Ray's C++ side: "[2024-06-13 16:11:51,588 E 13261 13261] core_worker.cc:228: text"
        r"\[(?P<stamp>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),\d{3} (?P<level>[DIWEFC]) \d+ \d+\] (?:\(\w+\) )?(?P<origin>[\w./]{1,80}:\d+): ",
        # torch C++ (glog): "[W1125 17:19:40.156408912 ProcessGroupNCCL.cpp:1524] text"
        r"\[(?P<level>[DIWEFC])(?P<stamp>\d{3,4} \d\d:\d\d:\d\d)\.\d+ (?P<origin>[\w./]{1,80}:\d+)\] ",
        # torch Python: "E0606 10:00:00.123000 4242 torch/_inductor/x.py:1] [0/0] text"
        r"(?P<level>[VDIWEFC])(?P<stamp>\d{3,4} \d\d:\d\d:\d\d)\.\d+ +\d+ (?P<origin>[\w./]{1,160}:\d+)\] (?:\[[\w/]+\] ?)*",
        # common loggers: "2025-06-27 12:57:51,690 - app - ERROR - text", "2025-06-27 12:57:51 | ERROR | text", "[2025-..] [ERROR] text"
        r"\[?(?P<stamp>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(?:[.,]\d+)?Z?\]?(?: ?[-|] ?| )(?:(?P<origin>[\w./:]{1,60})(?: ?[-|] ?| ))?"
        r"\[?(?P<level>DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)\]?(?: ?[-|:] ?| )(?:[\w.]{1,60} \| )?",
        r"\[(?P<level>DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)\] ?",
        # NCCL: "host:12:34 [0] NCCL WARN text"
        r"(?:\[[\d\- :.]{8,40}\] )?(?P<origin>[\w.\-]{1,80}:\d+(?::\d+)? \[-?\d+\](?: [\w./]{1,80}:\d+)?) NCCL (?P<level>INFO|WARN|TRACE|VERSION) ?",
    )
)
_ONE_PREFIX = lazy(r"\([A-Za-z_][^()]{0,60}? pid=\d{1,10}\) ?")
_PREFIXES = lazy(rf"(?:{_ONE_PREFIX.pattern}){{1,3}}")
_RANK = lazy(r"\[(?P<rank>rank\d+)\]: ?")
_WARNING = lazy(r"\S{1,300}\.py:\d+: (?P<kind>\w{0,40}Warning): ")
_LEVELS = {
    "V": "DEBUG",
    "D": "DEBUG",
    "TRACE": "DEBUG",
    "I": "INFO",
    "VERSION": "INFO",
    "W": "WARNING",
    "WARN": "WARNING",
    "E": "ERROR",
    "F": "CRITICAL",
    "C": "CRITICAL",
    "FATAL": "CRITICAL",
}


class Prefix(NamedTuple):
    """What was taken off the front of a line; `writer` is "vllm", "other" or "" (no stamp)."""

    text: str
    process: str = ""
    pid: int | None = None
    level: str = ""
    origin: str = ""
    stamp: str = ""
    writer: str = ""


def split_records(raw: str) -> list[str]:
    """The parts of a line into which two writers wrote at once; most lines are one part.

    Of `(A pid=1) (B pid=2) INFO ... one INFO ... two` the first record is A's and the second B's.
    """
    if "%|" in raw or "% Completed |" in raw:
        return [record for part in _BAR_END.split(raw) for record in _records(part)]
    return _records(raw)


def _records(raw: str) -> list[str]:
    if "%|" not in raw and len(_CLOCK.findall(raw)) < 2:
        return [raw]
    starts = [match.start() for match in _RECORD.finditer(raw)]
    if len(starts) < 2 and not (starts and "%|" in raw[: starts[0]]):
        return [raw]
    prefixes = _PREFIXES.match(raw)
    owners = _ONE_PREFIX.findall(prefixes[0]) if prefixes else []
    head = raw[prefixes.end() : starts[0]] if prefixes and prefixes.end() <= starts[0] else raw[: starts[0]]
    parts = [raw[start:end] for start, end in zip(starts, [*starts[1:], len(raw)], strict=True)]
    if head.strip() and "%|" in head:
        return [head, *parts]
    if len(owners) == len(parts) == 2:
        bare = [_ONE_PREFIX.sub("", part) for part in parts]
        return [owner + part for owner, part in zip(owners, bare, strict=True)]
    return [raw[: starts[1]], *parts[1:]]


def split_prefix(raw: str) -> Prefix:
    """Take process prefixes (up to three), one stamp and a `[rank0]: ` off a line.

    The indentation of what remains is kept: tracebacks are read by it.
    """
    text, process, pid = raw.rstrip(), "", None
    level = origin = stamp = writer = ""
    for _ in range(3):
        match = _PROCESS.match(text) if "(" in text[:12] else None
        if not match:
            break
        # The innermost prefix is vLLM's own; one that Ray put around it says less.
        process = match["name"] or match["ray"] or process
        pid = int(match["pid"]) if match["pid"] else pid
        text = text[match.end() :]
    if match := _VLLM.match(text):
        level, stamp, origin, writer = match["level"], match["stamp"], match["origin"], "vllm"
        text = text[match.end() :]
        # From 0.32 on, or with a logging prefix, the process may stand inside the record.
        if text.startswith("(") and (inner := _PROCESS.match(text)) and not process:
            process, pid = inner["name"] or "", int(inner["pid"] or 0) or None
            text = text[inner.end() :]
    elif match := _RANK.match(text):
        process = process or match["rank"]
        text = text[match.end() :]
    if not writer and (match := _other_stamp(text)):
        groups = match.groupdict()
        level = _LEVELS.get(groups["level"], groups["level"])
        stamp, origin, writer = groups.get("stamp") or "", groups.get("origin") or "", "other"
        text = text[match.end() :] if " NCCL " not in match[0] else text
    elif not writer and (match := _WARNING.match(text)):
        level, writer = "WARNING", "other"
    return Prefix(text, process, pid, level, origin, stamp, writer)


def _other_stamp(text: str) -> re.Match[str] | None:
    head = text[:1]
    if not (head.isalnum() or head == "["):
        return None
    for pattern in _OTHERS:
        if match := pattern.match(text):
            return match
    return None
