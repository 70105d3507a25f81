"""Byte pair encoding."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

Pair = tuple[bytes, bytes]


def words(text: str) -> Iterator[tuple[bytes, ...]]:
    for word in re.findall(r" ?[^ ]+| ", text):
        yield tuple(bytes([byte]) for byte in word.encode())


def merged(word: Sequence[bytes], pair: Pair) -> tuple[bytes, ...]:
    found: list[bytes] = []
    place = 0
    while place < len(word):
        size = 2 if tuple(word[place : place + 2]) == pair else 1
        found.append(b"".join(word[place : place + size]))
        place += size
    return tuple(found)


def train(file: Path, merges: int) -> list[Pair]:
    counts = Counter(words(file.read_text("utf-8")))
    learned: list[Pair] = []
    while len(learned) < merges:
        pairs: Counter[Pair] = Counter()
        for word, count in counts.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += count
        if not pairs:
            break
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        learned.append(best)
        counts = Counter({merged(word, best): count for word, count in counts.items()})
    return learned


def encode(text: str, merges: Sequence[Pair]) -> list[bytes]:
    pieces: list[bytes] = []
    for word in words(text):
        for pair in merges:
            word = merged(word, pair)
        pieces.extend(word)
    return pieces
