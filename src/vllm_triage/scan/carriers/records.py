"""A JSON record of Python's logging -> the text that vLLM's own formatter would have written."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any

from vllm_triage.lazy import lazy
from vllm_triage.scan.carriers.evidence import LEVEL, STAMP

_LEVELS = {"WARN": "WARNING", "FATAL": "CRITICAL", "TRACE": "DEBUG"}
_KNOWN_LEVEL = lazy(rf"{LEVEL}|TRACE")
_DATE = lazy(r"\d{4}-(?P<date>\d\d-\d\d)[T ](?P<time>\d\d:\d\d:\d\d)")
_STAMPED = lazy(STAMP)


def is_record(fields: Mapping[str, Any]) -> bool:
    """Whether this is a record of a Python logger and not merely a line that a shipper wrapped."""
    if isinstance(fields.get("levelname"), str):
        return True
    return isinstance(fields.get("level"), str) and any(
        key in fields for key in ("logger", "asctime", "lineno", "exc_info", "exception")
    )


def render(fields: Mapping[str, Any], message: str, prefix: str) -> str:
    """The record as text: each line of message, traceback and stack with the same stamp before it.

    `prefix` is a process prefix that stood before the JSON; it is repeated on each line.
    """
    parts = [message]
    for key in ("exc_info", "exception", "exc_text", "stack_info", "stack", "traceback"):
        if isinstance(fields.get(key), str) and fields[key].strip():
            parts.append(fields[key])
    lines = "\n".join(parts).split("\n")
    level = str(fields.get("levelname") or fields.get("level")).upper()
    level = _LEVELS.get(level, level)
    if not _KNOWN_LEVEL.fullmatch(level) or _STAMPED.match(message):
        return "\n".join(prefix + line for line in lines)
    head = f"{prefix or _process(fields)}{level} {_stamp(fields)} [{_origin(fields)}] "
    return "\n".join(head + line for line in lines)


def _process(fields: Mapping[str, Any]) -> str:
    name, pid = fields.get("vllm_process_name") or fields.get("processName"), fields.get("process")
    if not isinstance(name, str) or not isinstance(pid, int) or re.search(r"[()\n]", name):
        return ""
    return f"({name} pid={pid}) "


def _stamp(fields: Mapping[str, Any]) -> str:
    for key in ("asctime", "timestamp", "time", "ts", "@timestamp", "created"):
        value = fields.get(key)
        if isinstance(value, str) and (found := _DATE.match(value)):
            return f"{found['date']} {found['time']}"
        if isinstance(value, (int, float)) and 0 < value < 1e11:
            return time.strftime("%m-%d %H:%M:%S", time.gmtime(value))
    return "01-01 00:00:00"


def _origin(fields: Mapping[str, Any]) -> str:
    file = fields.get("filename") or fields.get("fileinfo") or "logger.py"
    line = fields.get("lineno")
    name = file if isinstance(file, str) and re.fullmatch(r"[\w./-]{1,120}", file) else "logger.py"
    return f"{name}:{line if isinstance(line, int) and line >= 0 else 0}"
