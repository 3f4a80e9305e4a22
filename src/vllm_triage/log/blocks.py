"""Tracebacks and bare exceptions: lines in, ErrorBlocks out, interleaved copies kept apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from vllm_triage.lazy import lazy
from vllm_triage.log.root import root_line
from vllm_triage.model import ErrorBlock, Frame, Line

_MAX_CONTINUATION = 60
_SHORT_HEADING = 60
_STRAIGHT = str.maketrans("“”‘’", "\"\"''")

HEADER = lazy(r"Traceback \(most recent call (?:last|first)\)")
_RICH_HEADER = lazy(r"[╭+][─-]{3,} ?Traceback \(most recent call last\)")
FRAME = lazy(
    r'\s*(?:#\d+ )?File "(?P<file>[^"]{1,400})", line (?P<line>\d{1,7})(?:,? in (?P<function>\S.{0,200}))?\s*$'
)
# Rich ("/x/y.py:12 in load"), IPython ("File ~/x.py:12, in load(self)", "/x/y.py in load(self)").
_OTHER_FRAME = lazy(
    r"\s*(?:File )?(?P<file>[~/.\w][^\s:]{0,300}\.pyx?):?(?P<line>\d{1,7})?,? in (?P<function>[\w.<>]{1,120})(?:\(.*\))?\s*:?$"
)
CAUSE = "The above exception was the direct cause of the following exception"
CONTEXT = "During handling of the above exception, another exception occurred"
_CARETS = lazy(r"\s*[~^]+[~^ ]*$")
_REPEATED = lazy(r"\s*\[Previous line repeated \d+ more times?\]")
_PROCESS_NAME = lazy(
    r"Process (?P<name>[A-Za-z]\w{0,30}(?:-\d+|_\w+)?):$|Exception in thread (?P<thread>.{1,80}?):?$"
)
_NOISE = lazy(r"Exception ignored in|Error in atexit|Error in sys\.excepthook")
_TYPE = r"(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Za-z_]\w{1,80}"
# Inside a traceback any dotted name may close it; outside, the name must look like an exception's.
_CLOSING = lazy(rf"(?P<type>{_TYPE})(?P<inner>\([\w.]{{1,80}}\))?(?::(?: (?P<message>.*))?)?$")
_LIKE = (
    r"(?:[A-Za-z_]\w{0,60}\.){0,8}(?:Exception|[A-Z_]\w{0,80}?(?:Error|Exception|Interrupt|Iteration|Failed|Failure|Timeout"
    r"|NotFound|Exit|OutOfResources|Unsupported|Died|OfflineModeIsEnabled))"
)
_BARE = lazy(rf"(?P<type>{_LIKE})(?P<inner>\([\w.]{{1,80}}\))?:(?: (?P<message>\S.*))?$")
# Exceptions that are often raised without a message; a paste may hold nothing else of them.
_NAKED = lazy(
    r"(?P<type>(?:\w{1,40}\.){0,4}(?:AssertionError|NotImplementedError|TimeoutError|MemoryError|EOFError|KeyboardInterrupt"
    r"|CancelledError|RecursionError))(?P<inner>)(?P<message>)$"
)
# The last line of a traceback whose source lines were cut out of a paste.
_LAST = lazy(rf"{_LIKE}(?:\([\w.]{{1,80}}\))?(?::(?: .*)?)?$")
_QUALIFIED = lazy(
    r"(?P<type>(?:[a-z_]\w{0,60}\.){1,8}(?:exc|errors?|exceptions?|_exceptions)\.[A-Z]\w{1,80})(?P<inner>)(?::(?: (?P<message>\S.*))?)?$"
)
# A line that begins something else and therefore can't continue an exception's message.
_OPENER = lazy(
    r"Traceback \(most|The above exception|During handling|Process \w[\w-]* ?[:(]|Exception (?:in|ignored)|usage: "
    r"|(?:Engine ?[Cc]ore|WorkerProc) (?:initialization failed|failed|hit|encountered)\b|\[rank\d|nanobind: |terminate called|!!!!!!!|Fatal Python error|\*\*\* SIG|Aborted|Killed|Segmentation fault"
    r"|/\S+\.py:\d+: \w*Warning|\S+:\d+:\d+ \[\d\] NCCL|resource_tracker|sys:1: "
)


@dataclass
class _Open:
    """A traceback being read in one stream of lines."""

    state: Literal["idle", "frames", "message"] = "idle"
    indent: int = 0
    frames: list[Frame] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    source: Line | None = None
    type: str = ""
    message: str = ""
    chain: int = -1
    named: str = ""
    thread: str = ""
    ignored: bool = False
    expect_source: bool = False
    indented: bool = False
    headed: bool = False


class BlockReader:
    """Reads lines in order and returns the exceptions among them; call once per log.

    `unfinished` says afterwards whether a traceback among them has no end.
    """

    def __init__(self) -> None:
        self._streams: dict[tuple[object, ...], _Open] = {}
        self._blocks: list[ErrorBlock] = []
        self._chains = 0
        self._used: set[int] = set()
        self.unfinished = False

    def read(self, lines: Iterable[Line]) -> tuple[tuple[ErrorBlock, ...], set[int]]:
        """The blocks by position of their exception line, and the indexes of their frame lines."""
        for line in lines:
            if line.kind != "aside":
                self._feed(line)
        for stream in self._streams.values():
            if stream.state == "frames" and stream.frames and not stream.ignored:
                self.unfinished = True
            self._close(stream, link=None)
        return tuple(sorted(self._blocks, key=lambda block: block.lines[0].index)), self._used

    def _feed(self, line: Line) -> None:
        # A stamped record is one traceback, however interleaved; raw lines of a process are another.
        key = (
            (line.process, line.pid, line.level, line.origin, line.stamp)
            if line.origin
            else (line.process, line.pid)
        )
        stream = self._streams.setdefault(key, _Open())
        text = line.text
        if not text.isascii():
            text = text.translate(_STRAIGHT)
            if "│" in text:
                text = text.strip("│ ").rstrip()
        bare = text.strip()
        if bare.startswith(("| ", "+ ")):
            # An exception group draws a line along its members.
            text = text.replace(bare[0], " ", 1)
            bare = text.strip()
        if not bare:
            return
        if _NOISE.match(bare):
            self._used.add(line.index)
            self._close(stream, link=None)
            stream.ignored = True
            return
        if CAUSE in bare or CONTEXT in bare:
            self._used.add(line.index)
            self._close(stream, link="cause" if CAUSE in bare else "context")
            return
        header = HEADER.search(bare[:300])
        if header or _RICH_HEADER.match(bare):
            # V0's workers put the message before it: "Exception in worker ... load_model: no room, Traceback (...".
            if header is None or header.start() <= _SHORT_HEADING:
                self._used.add(line.index)
            chained = stream.state == "idle" and stream.chain >= 0
            self._close(stream, link=None, keep_chain=chained)
            stream.state, stream.indent, stream.headed = "frames", len(text) - len(text.lstrip()), True
            return
        if match := _frame(text):
            self._used.add(line.index)
            if stream.state != "frames":
                self._close(stream, link=None, keep_chain=stream.state == "idle")
                stream.state, stream.indent = "frames", max(len(text) - len(text.lstrip()) - 2, 0)
            stream.frames.append(match)
            stream.indented = text[:1].isspace()
            stream.source, stream.expect_source = None, True
            return
        if match_name := _PROCESS_NAME.match(bare):
            self._used.add(line.index)
            self._close(stream, link=None)
            stream.named, stream.thread = match_name["name"] or "", match_name["thread"] or ""
            return
        if stream.state == "frames":
            self._inside(stream, line, text)
        elif stream.state == "message" and self._continues(stream, line, bare):
            stream.lines.append(line)
        else:
            self._outside(stream, line, text)

    def _inside(self, stream: _Open, line: Line, text: str) -> None:
        indent = len(text) - len(text.lstrip())
        bare = text.strip()
        if _CARETS.match(text) or _REPEATED.match(text):
            self._used.add(line.index)
            return
        closing = _CLOSING.match(bare)
        # The line after a frame is its source, even where a paste has lost the indentation.
        # Where a paste has lost the header, the indentation of what is left proves nothing.
        headless = stream.frames and not stream.headed and not stream.expect_source and _LAST.match(bare)
        # What stands further out than its frame was written by somebody else meanwhile.
        is_source = stream.expect_source and not _LAST.match(bare) and (indent or not stream.indented)
        if not headless and (indent > stream.indent or is_source):
            self._used.add(line.index)
            if stream.expect_source and stream.frames:
                last = stream.frames[-1]
                stream.frames[-1] = Frame(last.file, last.line, last.function, bare[:300])
                stream.source, stream.expect_source = line, False
            return
        if closing:
            self._begin_message(stream, line, closing)
        elif not line.origin:
            # A foreign line among raw frames: another process wrote into the same pipe.
            return

    def _outside(self, stream: _Open, line: Line, text: str) -> None:
        bare = text.strip()
        if match := _BARE.match(bare) or _QUALIFIED.match(bare) or _NAKED.match(bare):
            keep = stream.state == "idle" and stream.chain >= 0
            self._close(stream, link=None, keep_chain=keep)
            stream.frames = []
            self._begin_message(stream, line, match)
        elif stream.state == "message":
            self._close(stream, link=None)

    def _begin_message(self, stream: _Open, line: Line, match: re.Match[str]) -> None:
        stream.type = match["type"] + (match["inner"] or "")
        stream.message = (match["message"] or "").strip()
        stream.lines = [line]
        stream.state = "message"

    def _continues(self, stream: _Open, line: Line, bare: str) -> bool:
        last = stream.lines[-1]
        if len(stream.lines) > _MAX_CONTINUATION or _OPENER.match(bare):
            return False
        if not line.origin and line.index - last.index > 3:
            return False
        if (line.level, line.origin) != (last.level, last.origin):
            return False
        # Exceptions pasted one below the other are separate, unless the first announces the second.
        announced = stream.message.endswith((":", "raised")) or "error(s)" in stream.message
        return announced or line.text[:1].isspace() or not (_BARE.match(bare) or _QUALIFIED.match(bare))

    def _close(
        self, stream: _Open, link: Literal["cause", "context"] | None, keep_chain: bool = False
    ) -> None:
        """End what is open; a link (or `keep_chain`) lets the next block join the same chain."""
        if stream.state == "message" and stream.ignored:
            self._used.update(line.index for line in stream.lines)
        elif stream.state == "message":
            if stream.chain < 0:
                stream.chain = self._chains
                self._chains += 1
            first = stream.lines[0]
            process = first.process or stream.named
            self._blocks.append(
                ErrorBlock(
                    type=stream.type,
                    message=stream.message,
                    lines=tuple(stream.lines),
                    root=root_line(stream.type, stream.message, stream.lines, stream.source),
                    frames=tuple(stream.frames),
                    process=process,
                    level=first.level,
                    link=link,
                    chain=stream.chain,
                    thread=stream.thread,
                )
            )
        # What was said before a traceback holds until its last link is read.
        goes_on = stream.state == "idle" or link is not None or keep_chain
        fresh = _Open(
            named=stream.named if goes_on else "",
            thread=stream.thread if goes_on else "",
            ignored=stream.ignored and goes_on,
            chain=stream.chain if link or keep_chain else -1,
        )
        stream.__dict__.update(fresh.__dict__)


def _frame(text: str) -> Frame | None:
    if "File " in text[:40] or " in " in text:
        match = FRAME.match(text) or _OTHER_FRAME.match(text)
        if match:
            return Frame(match["file"], int(match["line"] or 0), (match["function"] or "").strip())
    return None


def chains(blocks: Iterable[ErrorBlock]) -> Iterator[list[ErrorBlock]]:
    """Blocks grouped by chain, each group in the order of printing (the first is the cause)."""
    groups: dict[int, list[ErrorBlock]] = {}
    for block in blocks:
        groups.setdefault(block.chain, []).append(block)
    yield from groups.values()
