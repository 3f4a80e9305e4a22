"""Wordings that drifted: phrases compared with the exception and error lines that no pattern explains."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from vllm_triage.catalog.rule import Rule, Signature
from vllm_triage.lazy import lazy

_WORD = lazy(r"[a-z_][a-z0-9_]+(?:\.[a-z0-9_]+)*")
_SHORTLIST = 12
# A wording of fewer words, or of words that all stand in many wordings, is too common to be looked for.
_MIN_WORDS = 4
_MIN_WEIGHT = 300
_MANY_RULES = 60
# One of its words that stand in the line must be one of so few rules.
_FEW_RULES = 8
# Of the weight of a wording's words this share must stand in the line, in their order.
_MIN_SHARE = 0.7
# A wording that is there as a whole needs no distance to those of other rules.
_WHOLE = 0.97
_MARGIN = 0.1
# Words that may stand between those of the wording: so many, and a share of the wording's length.
_GAPS = (2, 0.34)
_MAX_TEXT = 600


class Phrases:
    """An index of all wordings by their words, so that few need to be compared.

    Words are compared, not letters: a release adds, drops or changes a word, and the rare words of a
    message say what it is about.
    """

    def __init__(self, wordings: Iterable[tuple[Rule, Signature, str]]) -> None:
        self._wordings: list[tuple[Rule, Signature, list[str]]] = []
        self._by_word: dict[str, list[int]] = {}
        self._rules: dict[str, set[str]] = {}
        for rule, signature, wording in wordings:
            words = _words(wording)
            if len(words) < _MIN_WORDS:
                continue
            for word in set(words):
                self._by_word.setdefault(word, []).append(len(self._wordings))
                self._rules.setdefault(word, set()).add(rule.id)
            self._wordings.append((rule, signature, words))
        self._weights = {word: _weight(len(rules)) for word, rules in self._rules.items()}

    def search(self, text: str) -> Iterator[tuple[Rule, Signature, float]]:
        """Rules with a wording that is alike, with the similarity (0 to 1), best first."""
        words = _words(text)
        shared: Counter[int] = Counter()
        for word in set(words):
            for at in self._by_word.get(word, ()):
                shared[at] += self._weights[word]
        alike: list[tuple[float, int]] = []
        for at, weight in shared.most_common(_SHORTLIST):
            wording = self._wordings[at][2]
            total = sum(map(self._weights.__getitem__, wording))
            if weight < _MIN_SHARE * sum(map(self._weights.__getitem__, set(wording))) or total < _MIN_WEIGHT:
                continue
            if (share := self._share(wording, words, total)) >= _MIN_SHARE:
                alike.append((share, at))
        alike.sort(reverse=True)
        if self._is_common(alike):
            return
        for share, at in alike:
            rule, signature, _ = self._wordings[at]
            if share > _nearest_miss(rule, words):
                yield rule, signature, share

    def _is_common(self, alike: Sequence[tuple[float, int]]) -> bool:
        """Whether a part that several rules have in common is all that the line has of them."""
        if not alike or alike[0][0] >= _WHOLE:
            return False
        best = alike[0][0]
        return len({self._wordings[at][0].id for share, at in alike if share > best - _MARGIN}) > 1

    def _share(self, wording: Sequence[str], words: Sequence[str], total: int) -> float:
        """The share of a wording's weight that stands in the words, in order and close together."""
        from rapidfuzz.distance import LCSseq

        blocks = LCSseq.opcodes(wording, words).as_matching_blocks()[:-1]
        if not blocks:
            return 0.0
        matched = sum(block.size for block in blocks)
        if _speaks_of_others(wording, words):
            return 0.0
        between = blocks[-1].b + blocks[-1].size - blocks[0].b - matched
        if between > _GAPS[0] + _GAPS[1] * len(wording):
            return 0.0
        found = [word for block in blocks for word in wording[block.a : block.a + block.size]]
        if len(found) < _MIN_WORDS or all(len(self._rules[word]) > _FEW_RULES for word in found):
            return 0.0
        return sum(map(self._weights.__getitem__, found)) / total


def _weight(rules: int) -> int:
    """Of a word that so many rules have: words of few rules say more. Whole numbers keep the Counter exact."""
    return 1 + int(100 * math.log(_MANY_RULES / min(1 + rules, _MANY_RULES)))


def _speaks_of_others(wording: Sequence[str], words: Sequence[str]) -> bool:
    """Whether both name variables and not one in common: then what is said alike is said of something else."""
    named, meant = ({word for word in text if "_" in word} for text in (words, wording))
    return bool(named and meant and not named & meant)


def _nearest_miss(rule: Rule, words: Sequence[str]) -> float:
    """How alike the words are to what the rule's near misses say (0 to 1)."""
    from rapidfuzz.distance import LCSseq

    misses = (line for example in rule.examples if not example.matches for line in example.log.split("\n"))
    return max((LCSseq.normalized_similarity(_words(line), words) for line in misses), default=0.0)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower()[:_MAX_TEXT])


def nearest(text: str, phrases: Sequence[tuple[str, str]], limit: int = 3) -> tuple[tuple[str, float], ...]:
    """The rules whose wording is nearest to a text: (id, similarity 0 to 1), best first, weak ones left out."""
    from rapidfuzz import fuzz, process

    choices = dict(enumerate(wording for _, wording in phrases))
    best: dict[str, float] = {}
    for _, score, at in process.extract(
        text[:_MAX_TEXT], choices, scorer=fuzz.token_set_ratio, limit=limit * 4, score_cutoff=60
    ):
        best.setdefault(phrases[at][0], score / 100)
    return tuple(list(best.items())[:limit])
