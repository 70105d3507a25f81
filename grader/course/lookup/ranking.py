"""Documents ranked by words: BM25 over weighted fields, and how near they are to a document's names."""

import difflib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.course.lookup.words import terms

_SATURATED, _BY_LENGTH = 1.2, 0.35
"""BM25's k1 and b: how soon more of a term tells no more, and how much long documents are held back."""
NAME = 1.5
"""What it counts, beside the words themselves, that they are all that a name says."""
BELOW = 0.5
"""What a word counts that stands below the first line: there messages hint at much else."""


@dataclass(frozen=True)
class Document:
    """Texts, each with the weight that a word in it has, and the names that it goes by.

    One that is `printed` is met as a whole: a few of its words, which others have as well, count for less.
    """

    fields: tuple[tuple[str, float], ...]
    names: tuple[str, ...]
    printed: bool = False


class Ranking:
    """Documents that can be asked for."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.names = [
            [words for name in document.names if (words := set(terms(name)))] for document in documents
        ]
        self.printed = [document.printed for document in documents]
        counted = [_counted(document) for document in documents]
        lengths = [sum(counts.values()) for counts in counted]
        mean = sum(lengths) / max(len(lengths), 1)
        held = Counter(term for counts in counted for term in counts)
        self.rarity: Mapping[str, float] = {
            term: math.log(1 + (len(documents) - n + 0.5) / (n + 0.5)) for term, n in held.items()
        }
        self.postings: dict[str, dict[int, float]] = defaultdict(dict)
        for place, (counts, length) in enumerate(zip(counted, lengths, strict=True)):
            hold = _SATURATED * (1 - _BY_LENGTH + _BY_LENGTH * length / mean)
            for term, count in counts.items():
                self.postings[term][place] = self.rarity[term] * count * (_SATURATED + 1) / (count + hold)

    def of(self, asked: str, weights: Sequence[float]) -> list[tuple[float, int]]:
        """Weighed scores and places of the documents that have any of these words, the likeliest first."""
        first, *rest = re.split(r"(?<!:)\s*\n", asked.strip(), maxsplit=1)  # "Error(s) in loading:" goes on
        below = " ".join(rest)
        wanted = {term: BELOW for term in terms(below)} | dict.fromkeys(terms(first), 1.0)
        scores: dict[int, float] = defaultdict(float)
        for term, weight in wanted.items():
            for place, score in self.postings.get(term, {}).items():
                scores[place] += weight * score
        weighed = [
            (weights[place] * self._score(place, score, wanted), place) for place, score in scores.items()
        ]
        return sorted(weighed, key=lambda pair: (-pair[0], pair[1]))

    def _score(self, place: int, score: float, wanted: Mapping[str, float]) -> float:
        """With how much of what is asked the nearest name has, times the share that this is of the name."""
        pairs = [self._common(name, wanted) for name in self.names[place]]
        share = max((shared / whole for shared, whole in pairs), default=0.0)
        named = max((shared * (shared / whole) ** 2 for shared, whole in pairs), default=0.0)
        return (score + NAME * named) * (share if self.printed[place] else 1.0)

    def _common(self, name: set[str], wanted: Mapping[str, float]) -> tuple[float, float]:
        """How rare the words are that a name shares with what is asked, and all of its own."""
        shared = sum(self.rarity[term] * wanted.get(term, 0.0) for term in name)
        return shared, sum(self.rarity[term] for term in name)

    def nearest(self, asked: str) -> str:
        """What is asked, with the word spelt most like it for each that no document has, if there is one."""
        near: list[str] = []
        for term in terms(asked):
            near += [term] if term in self.rarity else difflib.get_close_matches(term, self.rarity, 1, 0.7)
        return " ".join(near)


def _counted(document: Document) -> dict[str, float]:
    """How often each term stands in a document, by the weights of its fields."""
    counts: dict[str, float] = defaultdict(float)
    for text, weight in document.fields:
        for term in terms(text):
            counts[term] += weight
    return counts
