"""The suite of count_each."""

import torch

from grader.checks.contract import Contract, given


def polls(gen):
    """Somebody before the last has no vote; in the first two, nor have the last."""
    for voters, n, last in [(20, 7, 5), (30, 9, 6), (40, 5, 5), (25, 6, 6)]:
        votes = torch.randint(last, (voters,), generator=gen)
        votes[votes == 1], votes[0] = 0, last - 1
        yield given(votes, n)


contract = Contract(
    "count_each(votes, n)",
    reference=lambda votes, n: torch.stack([(votes == i).sum() for i in range(n)]),
    example=(given(torch.tensor([2, 0, 2, 2]), 4), [1, 0, 3, 0]),
    inputs=lambda gen: list(polls(gen)),
    suspects={
        "the last ones have no votes and are missing: `minlength=`": lambda votes, n: torch.bincount(votes),
        "who has no votes is missing": lambda votes, n: votes.unique(return_counts=True)[1],
        "this tells who has votes, and not how many": lambda votes, n: (
            torch.bincount(votes, minlength=n) > 0
        ).long(),
    },
)
