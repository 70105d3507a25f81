"""The suite of commonest_pair."""

import torch

from grader.checks.contract import Contract, given


def most(pairs):
    return max(pairs, key=pairs.count)


def neighbours(ids, step=1):
    return [(ids[place], ids[place + 1]) for place in range(0, len(ids) - 1, step)]


def draw(gen):
    """Texts with (a, b) most often; (c, d) comes first where every second place is looked at."""
    found = {}
    for about, vocab, times in [("a text", 300, 3), ("a longer text", 300, 4), ("a text of bytes", 256, 5)]:
        a, b, c, d, *others = torch.randperm(vocab, generator=gen)[: 12 + 2 * times].tolist()
        ids = [others.pop(), others.pop(), b, a]
        for _ in range(times - 1):
            ids += [c, d, others.pop(), a, b, others.pop()]
        ids += [others.pop(), a, b, others.pop(), d, others.pop(), d, others.pop(), d]
        found[about] = given(ids)
    return found


contract = Contract(
    "commonest_pair(ids)",
    reference=lambda ids: most(neighbours(ids)),
    example=(given([7, 1, 2, 9, 1, 2]), (1, 2)),
    inputs=draw,
    suspects={
        "each id is in one pair only: it is the left one of the next pair as well": lambda ids: most(
            neighbours(ids, 2)
        ),
        "the pair is turned round: left first": lambda ids: most(neighbours(ids))[::-1],
        "this is how often each pair occurs, not the pair": lambda ids: (
            most(neighbours(ids)),
            neighbours(ids).count(most(neighbours(ids))),
        ),
        "these are the two commonest ids: count pairs": lambda ids: tuple(
            sorted(dict.fromkeys(ids), key=ids.count, reverse=True)[:2]
        ),
        "this is the first pair: which one occurs most often?": lambda ids: (ids[0], ids[1]),
    },
)
