"""Log x Catalog -> hits: every signature judged on the lines that can hold it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property

from vllm_triage.catalog.rule import Catalog, Phase, Rule, Signature
from vllm_triage.lazy import lazy
from vllm_triage.log import chains
from vllm_triage.log.blocks import HEADER
from vllm_triage.log.phases import phase_at, phase_of
from vllm_triage.match.conditions import conditions_hold, frame_fits, raised_by_vllm, refused_by_vllm
from vllm_triage.match.fuzzy import Phrases, nearest
from vllm_triage.match.text import normalise, window
from vllm_triage.model import ErrorBlock, Hit, Line, Log
from vllm_triage.scan import LANDMARKS, index_of

__all__ = ["Matcher", "normalise"]

# Time one pattern may take on one line, in seconds, and hits of one signature that are kept of a start.
_TIMEOUT = 0.05
_MAX_HITS = 200
_LAST_WORDS = 25
# Lines of a message that are read as one.
_MESSAGE_LINES = 4
# The echo of a build's command: its words are those of a toolchain, and it says nothing of what went wrong.
_COMMAND_LINE = lazy(
    r"(?:\[\d+/\d+\] )?(?:\S{0,200}/|(?=nvcc|ptxas|hipcc|clang|g?cc|[gc]\+\+))[\w.+-]{1,60} (?:\S{1,200} )?--?[A-Za-z]\S* "
)


class Matcher:
    """The signatures of a catalog, ready to be judged; safe to share between threads."""

    def __init__(self, catalog: Catalog) -> None:
        every = [(rule, signature) for rule in catalog.rules.values() for signature in rule.signatures]
        self._patterns = [(rule, signature) for rule, signature in every if signature.pattern]
        self._places = [(rule, signature) for rule, signature in every if signature.raised_in]
        self._every = every
        self._wordings = [(rule.id, signature.phrase or rule.title) for rule, signature in every]
        literals: dict[str, list[int]] = defaultdict(list)
        for at, (_, signature) in enumerate(self._patterns):
            for literal in signature.literals:
                literals[literal.lower()].append(at)
        # One index serves the scanner, too: to make one takes as long as to read a log.
        self._owners = [*literals.values(), *([] for _ in LANDMARKS)]
        self.literals = index_of(list(literals))
        self._compiled: dict[int, object] = {}

    def hits(self, log: Log) -> list[Hit]:
        """Every signature that fits, in the order of the lines."""
        scene = _Scene(log)
        found = list(self._by_words(log, scene))
        found += self._by_message(scene, found)
        found += self._by_phrase(scene, found)
        found += self._by_place(scene)
        return sorted(found, key=lambda hit: hit.line.index)

    def nearest(self, text: str) -> tuple[tuple[str, float], ...]:
        """Rules whose wording is nearest to an unexplained error: (id, similarity 0 to 1)."""
        return nearest(normalise(text), self._wordings)

    def _by_words(self, log: Log, scene: _Scene) -> Iterator[Hit]:
        lines = [line for line in log if line.kind != "aside"]
        texts = [normalise(line.text) for line in lines]
        starts = {attempt.start for attempt in log.attempts}
        counts: Counter[int] = Counter()
        candidates = self.literals.lines_with(texts)
        for row in sorted(candidates):
            line, text = lines[row], texts[row]
            if any(start <= line.index for start in starts):
                # Each start has hits of its own, or a long crash loop would use them up.
                starts = {start for start in starts if start > line.index}
                counts.clear()
            for at in sorted({at for literal in candidates[row] for at in self._owners[literal]}):
                rule, signature = self._patterns[at]
                if counts[at] >= _MAX_HITS or not scene.holds(signature, line):
                    continue
                fields = self._judge(at, window(text, signature.literals))
                if fields is not None:
                    counts[at] += 1
                    told = line if rule.rank in {"consequence", "fallback"} else scene.telling(line)
                    yield Hit(rule, signature, told, fields, scene.block(told))

    def _by_message(self, scene: _Scene, found: Sequence[Hit]) -> Iterator[Hit]:
        """Messages that no line explains by itself: their words may go on in the next one."""
        explained = {id(hit.block) for hit in found if hit.rule.rank != "consequence"}
        blocks = [b for b in scene.log.blocks if len(b.lines) > 1 and id(b) not in explained]
        texts = [normalise(" ".join(one.text.strip() for one in b.lines[:_MESSAGE_LINES])) for b in blocks]
        for row, literals in self.literals.lines_with(texts).items():
            block = blocks[row]
            for at in sorted({at for literal in literals for at in self._owners[literal]}):
                rule, signature = self._patterns[at]
                if not scene.holds(signature, block.lines[0]):
                    continue
                fields = self._judge(at, window(texts[row], signature.literals))
                if fields is not None:
                    yield Hit(rule, signature, block.root, fields, block)

    def _judge(self, at: int, text: str) -> dict[str, str] | None:
        import regex

        pattern = self._compiled.get(at)
        if pattern is None:
            pattern = regex.compile(self._patterns[at][1].pattern or "", regex.IGNORECASE)
            self._compiled[at] = pattern
        try:
            match = pattern.search(text, timeout=_TIMEOUT)  # type: ignore[attr-defined]
        except TimeoutError:
            return None
        if match is None:
            return None
        return {name: value for name, value in match.groupdict().items() if value is not None}

    @cached_property
    def _phrases(self) -> Phrases:
        """Made when the first line needs it: most failures are explained by a pattern."""
        return Phrases(
            (rule, signature, wording)
            for rule, signature in self._every
            if rule.rank != "consequence"
            for wording in ((signature.phrase,) if signature.phrase else signature.wordings)
        )

    def _by_phrase(self, scene: _Scene, found: Sequence[Hit]) -> Iterator[Hit]:
        # The words of a wrapper can hold those of a cause.
        explained = {hit.line.index for hit in found if hit.rule.rank != "consequence"}
        seen: dict[str, list[tuple[Rule, Signature, float]]] = {}
        for line in scene.errors() or ([] if found else scene.last_words()):
            text = normalise(line.text)
            if line.index in explained or len(text) < 20 or _COMMAND_LINE.match(text):
                continue
            if scene.telling(line) is not line:
                continue
            if text not in seen:
                seen[text] = list(self._phrases.search(text))
            for rule, signature, similarity in seen[text]:
                if scene.holds(signature, line):
                    yield Hit(rule, signature, line, {}, scene.block(line), similarity)

    def _by_place(self, scene: _Scene) -> Iterator[Hit]:
        for block in scene.log.blocks:
            frame = raised_by_vllm(block)
            if frame is None or block.level in {"WARNING", "INFO", "DEBUG"}:
                continue
            refused = refused_by_vllm(block)
            for rule, signature in self._places:
                if not refused and rule.rank != "fallback":
                    continue
                if frame_fits(frame, signature.raised_in) and scene.holds(signature, block.lines[0]):
                    yield Hit(rule, signature, block.root, {}, block)


def _record(line: Line) -> tuple[object, ...]:
    return line.process, line.pid, line.origin, line.stamp


class _Scene:
    """Where each line of a log stands: its exception, its chain, its phase."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self._blocks: dict[int, ErrorBlock] = {}
        for block in log.blocks:
            for line in (*block.lines, block.root):
                self._blocks.setdefault(line.index, block)
        self._headers = {line.index for line in log if HEADER.search(line.text[:300])}
        self._chains = {group[0].chain: group for group in chains(log.blocks)}

    def block(self, line: Line) -> ErrorBlock | None:
        return self._blocks.get(line.index)

    def telling(self, line: Line) -> Line:
        """The line itself, or the one that it is only a heading of.

        Headings are "1 validation error for ..." and a record whose own traceback follows it.
        """
        block = self.block(line)
        if block and line is block.lines[0] and block.root in block.lines[1:]:
            return block.root
        if block is None and line.origin and line.index + 1 in self._headers:
            below = (b for b in self.log.blocks if b.lines[0].index > line.index)
            own = next((b for b in below if _record(b.lines[0]) == _record(line)), None)
            return own.root if own else line
        return line

    def errors(self) -> list[Line]:
        """Exception and error lines, as the fuzzy search sees them."""
        return [line for line in self.log if line.kind in {"exception", "error"}]

    def last_words(self) -> list[Line]:
        """The plain lines at the end of the log: where there is no error, one of them may be the failure."""
        told = [line for line in self.log if line.text.strip()][-_LAST_WORDS:]
        return [line for line in told if line.kind == "plain"]

    def phase(self, line: Line) -> Phase | None:
        block = self.block(line)
        return phase_of(block, self.log.marks) if block else phase_at(self.log.marks, line.index)

    def holds(self, signature: Signature, line: Line) -> bool:
        block = self.block(line)
        chain = self._chains[block.chain] if block else ()
        return conditions_hold(signature, line, chain, block, self.phase(line) if signature.phases else None)
