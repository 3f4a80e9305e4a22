"""Wordings that drifted: phrases compared with the exception and error lines that no pattern explains."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from vllm_triage.catalog.rule import Rule, Signature

_WORD = re.compile(r"[a-z_]{3,}")
_SHORTLIST = 10
# Of a phrase's words this share must stand in the line, and the best alignment must be this alike (0 to 100).
_MIN_OVERLAP = 0.6
_MIN_RATIO = 84.0
_MAX_TEXT = 600


class Phrases:
    """An index of all phrases by their words, so that few need to be compared."""

    def __init__(self, phrases: Iterable[tuple[Rule, Signature]]) -> None:
        self._phrases = [
            (rule, signature, set(_WORD.findall((signature.phrase or "").lower())))
            for rule, signature in phrases
        ]
        self._by_word: dict[str, list[int]] = {}
        for at, (_, _, words) in enumerate(self._phrases):
            for word in words:
                self._by_word.setdefault(word, []).append(at)

    def search(self, text: str) -> Iterator[tuple[Rule, Signature, float]]:
        """Rules whose phrase is alike, with the similarity (0 to 1), best first."""
        folded = text.lower()[:_MAX_TEXT]
        shared = Counter(at for word in set(_WORD.findall(folded)) for at in self._by_word.get(word, ()))
        alike: list[tuple[float, int]] = []
        for at, count in shared.most_common(_SHORTLIST):
            _, signature, words = self._phrases[at]
            if count < _MIN_OVERLAP * len(words):
                continue
            from rapidfuzz.fuzz import partial_ratio

            ratio = partial_ratio((signature.phrase or "").lower(), folded, score_cutoff=_MIN_RATIO)
            if ratio:
                alike.append((ratio, at))
        for ratio, at in sorted(alike, reverse=True):
            rule, signature, _ = self._phrases[at]
            yield rule, signature, ratio / 100


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
