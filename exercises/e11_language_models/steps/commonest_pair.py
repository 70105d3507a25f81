"""The commonest pair of neighbours: `Counter`.

A tokenizer learns which ids often stand side by side. Return the pair of neighbours (left, right) that occurs most
often in a list of ids. Each id is the right one of a pair and the left one of the next.

    commonest_pair([7, 1, 2, 9, 1, 2])
    # (1, 2): twice; 7 1, 2 9 and 9 1 occur once

- No other pair occurs as often.

New here: `pairwise(ids)` gives all pairs of neighbours; `Counter(pairs).most_common(1)` is a list with one entry,
(pair, how often).
"""

from collections import Counter
from itertools import pairwise


def commonest_pair(ids: list[int]) -> tuple[int, int]:
    raise NotImplementedError
