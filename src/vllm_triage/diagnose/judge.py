"""One start of the server: did it fail, and which line is the root of it?"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from vllm_triage.catalog.rule import Phase
from vllm_triage.diagnose import missing
from vllm_triage.diagnose.candidates import WRAPPER, Candidate, candidates
from vllm_triage.diagnose.context import context
from vllm_triage.diagnose.gate import Stage, stage
from vllm_triage.diagnose.plain import speaks_of_failure
from vllm_triage.diagnose.rank import findings, order
from vllm_triage.log.phases import phase_at, phase_of
from vllm_triage.model import Attempt, Context, Hit, Line, Log, Loss, Outcome, Role

Nearest = Callable[[str], tuple[tuple[str, float], ...]]

_STOPPED = "stopped-from-outside"
# What processes say at every end.
_NOISE = "shutdown-noise"
# Above this class a line alone does not make a failure.
_CERTAIN = 2.5
_CLOSING_LINES = 25
_OWN_LINES = 3
# A wrapper that repeats what the worker said. Its traceback says more; if that is gone, this is all there is.
_QUOTES = re.compile(r"Worker failed with error ['\"](?!None['\"])[^'\"]{8}")
# A notice of waiting that is said so often, the last time at the end of the log, is a hang.
_STALLS = 3
_END_LINES = 3
_RANK = re.compile(r"DP\d+")


@dataclass(frozen=True)
class _Case:
    """An attempt with everything that speaks about it."""

    log: Log
    lines: Sequence[Line]
    part: Stage
    hits: Sequence[Hit]
    found: Sequence[Candidate]
    losses: tuple[Loss, ...]

    def context(self, phase: Phase | None = None) -> Context:
        first, last = self.lines[0].index if self.lines else 0, self.lines[-1].index if self.lines else 0
        marks = [mark for mark in self.log.marks if first <= mark[0] <= last]
        return context(self.lines, marks, len(self.log.attempts), phase)


def judge(log: Log, attempt: Attempt, hits: Sequence[Hit], nearest: Nearest) -> Outcome:
    """Judge one attempt of the log; `nearest` names the rules nearest to an unexplained error."""
    lines = [line for line in log if attempt.start <= line.index < attempt.end]
    blocks = [block for block in log.blocks if attempt.start <= block.lines[0].index < attempt.end]
    told = next(
        (h.line for h in hits if h.rule.id == _STOPPED and attempt.start <= h.line.index < attempt.end), None
    )
    wrappers = {hit.line.index for hit in hits if hit.rule.rank == "consequence"}
    own = [block for block in blocks if not {block.lines[0].index, block.root.index} & wrappers]
    part = stage(lines, own, attempt, told)
    phases = dict(log.marks)
    ups = [line for line in lines if phases.get(line.index) in {"api", "serving"}]
    inside: list[Hit] = []
    losses: list[Loss] = []
    for hit in hits:
        if reason := _out_of_place(hit, part, attempt, ups):
            losses.append(Loss(hit, reason))
        else:
            inside.append(hit)
    found = candidates(
        [line for line in lines if part.start <= line.index < part.end],
        [block for block in blocks if part.start <= block.lines[0].index < part.end],
        inside,
    )
    found = [candidate for candidate in found if candidate.block or not _survived(candidate.line, ups)]
    found = _with_passed(found, log.marks)
    case = _Case(log, lines, part, inside, order(found), tuple(losses))
    return _served(case) if part.kind == "served" else _failed(case, nearest)


def _served(case: _Case) -> Outcome:
    notices, losses = findings([candidate for candidate in case.found if candidate.explained])
    return Outcome(
        "healthy", notices=tuple(notices), losses=(*case.losses, *losses), context=case.context("serving")
    )


def _failed(case: _Case, nearest: Nearest) -> Outcome:
    stopped = case.part.kind == "stopped"
    certain = [c for c in case.found if c.explained or (c.tier <= _CERTAIN and not stopped)]
    if case.part.kind == "serving":
        # A record without an exception is the answer to a request more often than the end of the engine.
        certain = [c for c in certain if c.block or c.hits or c.line.kind != "error"]
    noise = {hit.line.index for hit in case.hits if hit.rule.id == _NOISE}
    wrappers = [c for c in case.found if c.tier >= WRAPPER and not c.explained and c.line.index not in noise]
    if certain:
        return _rooted(case, certain, nearest)
    if stopped:
        return Outcome("failed", root=case.part.told, losses=case.losses, context=case.context())
    if wrappers:
        if quoting := [c for c in wrappers if _QUOTES.search(c.line.text)]:
            return _rooted(case, quoting, nearest)
        silent = _silent_death(wrappers, case)
        if silent:
            return _rooted(case, [silent], nearest)
        return Outcome(
            "failed",
            consequences=_consequences(case),
            missing=missing.of_wrapper(wrappers[0].line, case.lines),
            losses=case.losses,
            context=case.context(),
        )
    stalled = [c for c in case.found if c.hits and c.line.kind in {"info", "warning"}]
    waits = bool(stalled) and _ends_with(case.lines, stalled[-1].line)
    if waits and len(stalled) >= _STALLS:
        return _rooted(case, stalled[-1:], nearest)
    if case.log.cut_off in case.lines and not stopped:
        return Outcome(
            "failed",
            root=case.log.cut_off,
            missing=missing.of_cut_traceback(),
            losses=case.losses,
            context=case.context(),
        )
    return Outcome(
        "inconclusive",
        consequences=_consequences(case),
        root=stalled[-1].line if waits else _last_words(case.lines),
        missing=missing.of_unfinished(case.log.looks_like_vllm),
        losses=case.losses,
        context=case.context(),
    )


def _rooted(case: _Case, certain: Sequence[Candidate], nearest: Nearest) -> Outcome:
    root = certain[0]
    made, losses = findings(certain)
    if not root.hits:
        # Naming what explains another line would be a guess: the root stands unexplained.
        losses += [Loss(hit, "the root error is another line") for c in certain for hit in c.hits]
        made = []
    return Outcome(
        "failed",
        findings=tuple(made),
        consequences=_consequences(case),
        root=root.block._replace(root=root.line) if root.block else root.line,
        chain=[b for b in case.log.blocks if root.block and b.chain == root.block.chain],
        nearest=() if made else nearest(root.line.text),
        losses=(*case.losses, *losses),
        context=case.context(_phase(root, case.log)),
    )


def _with_passed(found: Sequence[Candidate], marks: Sequence[tuple[int, Phase]]) -> list[Candidate]:
    """Mark the records after which a phase began that ended with an exception, if that is of another rule."""
    raised = [c for c in found if c.block and c.tier < WRAPPER]
    ends = max((c.line.index for c in raised), default=-1)
    begun = max((at for at, _ in marks if at < ends), default=-1)
    rules = {hit.rule.id for c in raised for hit in c.hits}
    return [
        replace(c, passed=True)
        if not c.block and c.line.index < begun and rules.isdisjoint(hit.rule.id for hit in c.hits)
        else c
        for c in found
    ]


def _survived(line: Line, ups: Sequence[Line]) -> bool:
    """Whether an engine started up after this record of it; `ups` are the lines by which one is known to be up."""
    own = _RANK.search(line.process)
    for up in ups:
        other = _RANK.search(up.process)
        if up.index > line.index and (not own or not other or own[0] == other[0]):
            return True
    return False


def _out_of_place(hit: Hit, part: Stage, attempt: Attempt, ups: Sequence[Line]) -> str | None:
    """Why a hit can't speak of this attempt's failure, or None if it can."""
    if not attempt.start <= hit.line.index < attempt.end:
        return "it belongs to another start"
    if hit.line.index < part.start:
        return "the server became ready after it"
    if hit.block is None and _survived(hit.line, ups):
        return "the engine started up after it"
    if hit.line.index >= part.end:
        return "the shutdown had begun"
    if part.kind == "stopped" and hit.rule.id != _STOPPED and hit.rule.rank != "consequence":
        return "the start was stopped from outside before it failed"
    if part.kind != "stopped" and hit.rule.id == _STOPPED:
        return "it had failed, or was ready, before it was stopped"
    return None


def _consequences(case: _Case) -> tuple[Hit, ...]:
    return tuple(hit for hit in case.hits if hit.rule.rank == "consequence")


def _silent_death(wrappers: Sequence[Candidate], case: _Case) -> Candidate | None:
    """The notice of a process that died without a word, if the log holds that process's own lines.

    The one that died stands one level below the one that speaks of it. A server that was serving has
    shown its engine's lines long before.
    """
    deepest = wrappers[0].role
    notice = next((wrapper for wrapper in wrappers if wrapper.hits and wrapper.role == deepest), None)
    if notice is None:
        return None
    below = Role.WORKER if notice.role is Role.ENGINE else Role.ENGINE
    own = sum(line.role <= below and line.kind in {"info", "warning"} for line in case.lines)
    return notice if own >= _OWN_LINES or case.part.kind == "serving" else None


def _ends_with(lines: Sequence[Line], line: Line) -> bool:
    closing = [other.index for other in lines if other.text.strip()][-_END_LINES:]
    return line.index in closing


def _last_words(lines: Sequence[Line]) -> Line | None:
    closing = [line for line in lines if line.text.strip()][-_CLOSING_LINES:]
    return next(
        (line for line in closing if line.kind in {"plain", "warning"} and speaks_of_failure(line)), None
    )


def _phase(root: Candidate, log: Log) -> Phase | None:
    return phase_of(root.block, log.marks) if root.block else phase_at(log.marks, root.line.index)
