"""Lines that are JSON: docker's json-file, a JSON formatter's records, and what log shippers wrap lines in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from vllm_triage.lazy import lazy
from vllm_triage.scan.carriers.evidence import PROCESS
from vllm_triage.scan.carriers.records import is_record, render
from vllm_triage.scan.framing import SLICE
from vllm_triage.scan.lines import NumberedLine, inner_lines

_START = lazy(rf'(?P<prefix>(?:{PROCESS} ){{0,3}})(?=\{{")')
_TEXT_KEYS = ("log", "message", "msg", "line", "textPayload", "MESSAGE", "event", "body", "text")
_ALONE = frozenset({"log", "message", "msg", "line", "textPayload", "MESSAGE"})
# Objects under these keys hold the carried text one level down.
_OUTER_KEYS = ("jsonPayload", "_source", "fields")
# A bare {"message": ...} may be anything, the answer of an API for one; who ships logs adds more.
_META_KEYS = frozenset(
    {
        *("stream", "time", "timestamp", "@timestamp", "ts", "asctime", "date", "level", "levelname"),
        *("severity", "kubernetes", "docker", "host", "hostname", "container", "container_name"),
        *("container_id", "pod", "namespace", "labels", "logger", "insertId", "resource", "logName"),
        *("_SYSTEMD_UNIT", "__REALTIME_TIMESTAMP", "PRIORITY", "logtag"),
    }
)
_DOCKER_KEYS = frozenset({"log", "stream", "time", "attrs"})
# Docker cuts lines at 16 KiB, which is no less than this in characters.
_DOCKER_PART = 4096


class _Carried(NamedTuple):
    name: str
    text: str
    goes_on: bool = False


@dataclass
class JsonLines:
    """Undoes JSON wherever a line is an object that holds a line, also one within the other."""

    _seen: list[str] = field(default_factory=list)
    _open: NumberedLine | None = None

    @property
    def names(self) -> Sequence[str]:
        return self._seen

    @property
    def idle(self) -> bool:
        return self._open is None

    def push(self, lines: list[NumberedLine]) -> list[NumberedLine]:
        if self.idle and not any('{"' in text for _, text in lines):
            return lines
        done: list[NumberedLine] = []
        for number, text in lines:
            carried = _unwrap(text) if '{"' in text else None
            if carried is None:
                done += self.flush()
                done.append((number, text))
                continue
            if carried.name not in self._seen:
                self._seen.append(carried.name)
            whole = carried.text
            if self._open:
                number, whole = self._open[0], (self._open[1] + whole)[:SLICE]
                self._open = None
            if carried.goes_on:
                self._open = (number, whole)
                continue
            # What was wrapped may be wrapped once more.
            done += self.push(inner_lines(number, whole))
        return done

    def flush(self) -> list[NumberedLine]:
        rest = [self._open] if self._open else []
        self._open = None
        return rest


def _unwrap(line: str) -> _Carried | None:
    """What a line of JSON carries; None if it is something else."""
    import json

    start = _START.match(line)
    if not start:
        return None
    try:
        fields = json.loads(line[start.end() :].rstrip().removesuffix(","), strict=False)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    for key in _OUTER_KEYS:
        if isinstance(fields.get(key), dict):
            fields = {**fields, **fields[key]}
    prefix = start["prefix"]
    alone = len(fields) == 1 and not _ALONE.isdisjoint(fields)
    if not prefix and not alone and _META_KEYS.isdisjoint(fields):
        return None
    text = next((text for key in _TEXT_KEYS if (text := _text(fields.get(key))) is not None), None)
    if text is None:
        return None
    if is_record(fields):
        return _Carried("json-records", render(fields, text, prefix))
    docker = "stream" in fields and _DOCKER_KEYS.issuperset(fields)
    goes_on = docker and not text.endswith("\n") and len(text) >= _DOCKER_PART
    text = "\n".join(prefix + part for part in text.removesuffix("\n").split("\n"))
    return _Carried("docker-json" if docker else "json", text, goes_on)


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    # journalctl prints text that holds escapes as a list of bytes.
    if isinstance(value, list) and value and all(isinstance(byte, int) and 0 <= byte < 256 for byte in value):
        return bytes(value).decode("utf-8", "replace")
    return None
