from collections import Counter
from itertools import pairwise


def commonest_pair(ids: list[int]) -> tuple[int, int]:
    ((pair, _),) = Counter(pairwise(ids)).most_common(1)
    return pair
