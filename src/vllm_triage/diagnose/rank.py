"""Hits -> findings: which rule answers for which candidate, in which order, how surely."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vllm_triage.catalog.rule import FieldSpec
from vllm_triage.diagnose.candidates import WRAPPER, Candidate
from vllm_triage.lazy import lazy
from vllm_triage.model import Finding, Hit, Loss

_RANKS = {"specific": 0, "generic": 1, "fallback": 3}
_PLACE = 2
_CONFIDENCE = (0.92, 0.75, 0.45, 0.5)
# A line that needs an explanation from the catalog to count at all is worth less than an exception.
_KIND_COST = {"plain": 0.3, "error": 0.2, "warning": 0.35, "info": 0.45}
_UNEXPLAINED = 0.5
_PASSED = 0.5
# What a process says of a peer that is gone: the peer's own error comes before it, wherever it stands.
_PEER = 0.7
_OF_A_PEER = lazy(
    r"remote process exited|ncclRemoteError|Connection (?:closed|reset) by peer|recvValue failed|failed to recv, got 0 bytes"
    r"|Broken pipe|Timed out after \d+ seconds waiting for clients|Watchdog caught collective operation timeout|Some NCCL operations have failed"
    r"|connect returned Connection refused"
)
_KNOWN_LINE = 1.9
_REFUTED = 0.1
_MAX_FINDINGS = 4
_MAX_EVIDENCE = 10


def strength(hit: Hit) -> tuple[int, float, int]:
    """How well a hit explains its line, the least is the best."""
    suggests = hit.signature.raised_in or hit.signature.hint
    level = _PLACE if suggests and hit.rule.rank != "fallback" else _RANKS.get(hit.rule.rank, 4)
    conditions = len(hit.signature.frames) + len(hit.signature.phases) + len(hit.signature.exception)
    return level, -hit.similarity, -min(conditions, 1)


def order(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Likeliest root cause first: by form and explanation, then worker before core before server, then time."""
    every = list(candidates)
    second_hand = _second_hand(every)

    def key(one: Candidate) -> tuple[float, int, int]:
        cost = _weight(one) + (_PASSED if one.passed else 0.0)
        return cost + (_PEER if one.line.index in second_hand else 0.0), one.role, one.line.index

    return sorted(every, key=key)


def _second_hand(candidates: Sequence[Candidate]) -> set[int]:
    """Indexes of lines that say a peer is gone, where the log holds what the peer or another process died of."""
    news, own = [], []
    for one in candidates:
        texts = (one.line.text, one.block.message if one.block else "")
        if any(_OF_A_PEER.search(text[:1000]) for text in texts):
            news.append(one)
        elif one.tier < WRAPPER:
            own.append(one)
    told = min((one.line.index for one in own if one.explained), default=None)
    owners = {(one.role, one.line.process) for one in own if one.block}
    return {
        one.line.index
        for one in news
        if (told is not None and told < one.line.index)
        or any(role <= one.role and process != one.line.process for role, process in owners)
    }


def _weight(candidate: Candidate) -> float:
    level = min((strength(hit)[0] for hit in candidate.hits), default=4)
    if level == 0:
        cost = 0.0 if candidate.block else _KIND_COST.get(candidate.line.kind, 0.0)
        drift = 1 - max(hit.similarity for hit in candidate.hits if strength(hit)[0] == 0)
        late = candidate.tier if 0.5 <= candidate.tier < 1.0 and candidate.block else 0.02
        return cost + drift + (late if candidate.tier else 0.0)
    if candidate.tier >= WRAPPER:
        return WRAPPER + level
    if level == 1 and not candidate.block:
        # A line that the catalog knows says more than the notice that the process was aborted.
        return min(candidate.tier, _KNOWN_LINE)
    # Only words that have one cause are worth more than an exception nobody knows.
    return candidate.tier + (_UNEXPLAINED if candidate.block else 0.0)


def findings(ordered: Sequence[Candidate]) -> tuple[list[Finding], list[Loss]]:
    """One finding a rule, best first, and the hits that lost with the reason."""
    chosen: dict[str, list[Hit]] = {}
    losses: list[Loss] = []
    for candidate in ordered:
        hits = sorted(candidate.hits, key=strength)
        if candidate.built:
            hits = [hit._replace(line=candidate.line) for hit in hits]
        for hit in hits:
            if strength(hit)[0] == strength(hits[0])[0]:
                chosen.setdefault(hit.rule.id, []).append(hit)
            else:
                losses.append(Loss(hit, f"{hits[0].rule.id} explains the same line better"))
    ranked = list(chosen.values())
    for at, hits in enumerate(ranked):
        # Words that are merely alike win over nothing that stands there as it is known.
        exact = hits[0].similarity >= ranked[0][0].similarity
        if exact and ranked[0][0].rule.id in hits[0].rule.beats:
            losses.append(Loss(ranked[0][0], f"{hits[0].rule.id} wins over it"))
            ranked.insert(0, ranked.pop(at))
    return [_finding(hits, place) for place, hits in enumerate(ranked[:_MAX_FINDINGS])], losses


def settle(ranked: Sequence[Finding]) -> tuple[Finding, ...]:
    """Rank once more, with what the machine says: a refuted finding stands last, a confirmed one moves up.

    It moves past those that are less sure than it has become; without checks nothing moves.
    """
    standing: list[Finding] = []
    for finding in ranked:
        if finding.refuted:
            continue
        at = len(standing)
        if finding.confirmed:
            finding = finding._replace(confidence=round((1 + finding.confidence) / 2, 3))
            while at and not standing[at - 1].confirmed and standing[at - 1].confidence < finding.confidence:
                at -= 1
        standing.insert(at, finding)
    refuted = (f._replace(confidence=min(f.confidence, _REFUTED)) for f in ranked if f.refuted)
    return (*standing, *refuted)


def _finding(hits: Sequence[Hit], place: int) -> Finding:
    first = hits[0]
    level = min(strength(first)[0], 3)
    confidence = _CONFIDENCE[level] * first.similarity
    if first.similarity < 1:
        confidence *= 0.8
    if first.line.kind in {"warning", "info"}:
        confidence *= 0.8
    # What stands after the root cause is most often its consequence.
    confidence *= 0.5 ** min(place, 3)
    # The same failure in several ranks is one cause, seen in each of them.
    seen: dict[tuple[str, str], Hit] = {}
    fields: dict[str, int | float | str] = {}
    for hit in hits:
        seen.setdefault((hit.line.process, hit.line.text.strip()), hit)
        for name, value in hit.fields.items():
            fields.setdefault(name, typed(value, first.rule.fields.get(name)))
    return Finding(first.rule, round(confidence, 3), tuple(seen.values())[:_MAX_EVIDENCE], fields)


def typed(text: str, spec: FieldSpec | None) -> int | float | str:
    """A named group as its declared type; as text where it does not read as one."""
    number = text.replace(",", "").strip()
    try:
        if spec and spec.type == "int":
            return int(number)
        if spec and spec.type == "float":
            return float(number)
    except ValueError:
        return text
    return text
