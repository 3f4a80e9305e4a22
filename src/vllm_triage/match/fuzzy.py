"""Wordings that drifted: phrases compared with the exception and error lines that no pattern explains."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from vllm_triage.catalog.rule import Rule, Signature

_WORD = re.compile(r"[a-z_]{3,}")
_NUMBER = re.compile(r"\d[\d.,]*")
_SHORTLIST = 8
# A wording of fewer words is too common to be looked for.
_MIN_WORDS = 5
# Of the weight of a wording's words this share must stand in the line, and the best alignment of both
# must be this alike (0 to 100).
_MIN_OVERLAP = 0.7
_MIN_RATIO = 88.0
_MAX_TEXT = 600


class Phrases:
    """An index of all wordings by their words, so that few need to be compared."""

    def __init__(self, wordings: Iterable[tuple[Rule, Signature, str]]) -> None:
        self._wordings: list[tuple[Rule, Signature, str, set[str]]] = []
        self._by_word: dict[str, list[int]] = {}
        for rule, signature, wording in wordings:
            text = _plain(wording)
            words = set(_WORD.findall(text))
            if len(words) < _MIN_WORDS:
                continue
            for word in words:
                self._by_word.setdefault(word, []).append(len(self._wordings))
            self._wordings.append((rule, signature, text, words))

    def search(self, text: str) -> Iterator[tuple[Rule, Signature, float]]:
        """Rules with a wording that is alike, with the similarity (0 to 1), best first."""
        folded = _plain(text)
        shared: Counter[int] = Counter()
        for word in set(_WORD.findall(folded)):
            for at in self._by_word.get(word, ()):
                shared[at] += self._weight(word)
        alike: list[tuple[float, int]] = []
        for at, weight in shared.most_common(_SHORTLIST):
            _, _, wording, words = self._wordings[at]
            if weight < _MIN_OVERLAP * sum(map(self._weight, words)):
                continue
            from rapidfuzz.fuzz import partial_ratio

            if ratio := partial_ratio(wording, folded, score_cutoff=_MIN_RATIO):
                alike.append((ratio, at))
        for ratio, at in sorted(alike, reverse=True):
            rule, signature, _, _ = self._wordings[at]
            if ratio > _nearest_miss(rule, folded):
                yield rule, signature, ratio / 100

    def _weight(self, word: str) -> int:
        """Rare words say more; whole numbers keep the Counter exact."""
        return 1 + int(100 * math.log((1 + len(self._wordings)) / (1 + len(self._by_word.get(word, ())))))


def _nearest_miss(rule: Rule, text: str) -> float:
    """How alike the text is to what the rule's near misses say (0 to 100)."""
    from rapidfuzz.fuzz import ratio

    misses = (line for example in rule.examples if not example.matches for line in example.log.split("\n"))
    return max((ratio(_plain(line)[-len(text) :], text) for line in misses), default=0.0)


def _plain(text: str) -> str:
    return _NUMBER.sub("0", text.lower()[:_MAX_TEXT])


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
