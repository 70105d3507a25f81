from collections import Counter
from collections.abc import Sequence
from itertools import pairwise


def _merged(ids: list[int], pair: tuple[int, int], new: int) -> list[int]:
    result, place = [], 0
    while place < len(ids):
        found = tuple(ids[place : place + 2]) == pair
        result.append(new if found else ids[place])
        place += 2 if found else 1
    return result


def train(text: str, count: int) -> list[tuple[int, int]]:
    ids = list(text.encode())
    merges: list[tuple[int, int]] = []
    while len(merges) < count and len(ids) > 1:
        counts = Counter(pairwise(ids))
        best = max(counts, key=counts.__getitem__)  # of equal ones the first: a Counter keeps their order
        ids = _merged(ids, best, 256 + len(merges))
        merges.append(best)
    return merges


def encode(text: str, merges: Sequence[tuple[int, int]]) -> list[int]:
    ids = list(text.encode())
    for new, pair in enumerate(merges, 256):
        ids = _merged(ids, pair, new)
    return ids


def decode(ids: Sequence[int], merges: Sequence[tuple[int, int]]) -> str:
    pieces = [bytes([byte]) for byte in range(256)]
    for first, second in merges:
        pieces.append(pieces[first] + pieces[second])
    data = b"".join(pieces[token] for token in ids)  # letters may spread over tokens
    return data.decode(errors="replace")
