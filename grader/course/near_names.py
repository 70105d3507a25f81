"""Whose name another one is nearly: what to ask about, and never an answer."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from grader.course.person_names import words

_NEAR = 0.7
"""The share of neighbouring letters that two names have in common which may be the same one's."""


class NearNames:
    """Names of several people, each under a key."""

    def __init__(self, names: Mapping[str, Iterable[str]]) -> None:
        self._forms = [
            (key, _pairs(form))
            for key, held in names.items()
            for form in sorted({form for name in held for form in _short(name) | _whole(name)})
        ]
        self._having: dict[str, list[int]] = defaultdict(list)
        for n, (_, held) in enumerate(self._forms):
            for pair in held:
                self._having[pair].append(n)

    def of(self, name: str) -> list[str]:
        """The keys of those who may be called so, the likeliest first."""
        scores: dict[str, float] = {}
        for form in _whole(name):
            own = _pairs(form)
            shared = Counter(n for pair in own for n in self._having.get(pair, ()))
            for n, count in shared.items():
                key, held = self._forms[n]
                scores[key] = max(scores.get(key, 0.0), 2 * count / (len(own) + len(held)))
        return sorted((key for key in scores if scores[key] >= _NEAR), key=lambda key: (-scores[key], key))


def _whole(name: str) -> set[str]:
    """A name's letters, also without the names between first and last; none of an id with numbers.

    Such ids are alike, and never the same.
    """
    parts = words(name)
    if not parts or re.search(r"\d", name):
        return set()
    return {"".join(sorted(parts)), "".join(sorted({parts[0], parts[-1]}))}


def _short(name: str) -> set[str]:
    """What people of this name call themselves where they choose: `alovelace`, `adal`, `lovelace`."""
    parts = words(name.partition("@")[0])
    if not parts or re.search(r"\d", name):
        return set()
    first, last = parts[0], parts[-1]
    return {first, last, first + last, last + first, first[0] + last, first + last[0], last + first[0]}


def _pairs(name: str) -> set[str]:
    """The pairs of neighbours among a name's letters, without accents."""
    bare = unicodedata.normalize("NFD", name)
    plain = f"^{''.join(c for c in bare if not unicodedata.combining(c))}$"
    return {plain[n : n + 2] for n in range(len(plain) - 1)}
