"""The suite of hide_the_future."""

import torch

from grader.checks.contract import Contract

INF = float("inf")


def by_hand(scores):
    rows = scores.tolist()
    return scores.new_tensor(
        [[x if j <= i else -INF for j, x in enumerate(row)] for i, row in enumerate(rows)]
    )


def filled(mask):
    return lambda scores: scores.masked_fill(mask(torch.ones_like(scores, dtype=torch.bool)), -INF)


contract = Contract(
    "hide_the_future(scores)",
    reference=by_hand,
    example=(
        [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]],
        [[1.0, -INF, -INF], [4.0, 5.0, -INF], [7.0, 8.0, 9.0]],
    ),
    inputs=lambda gen: [torch.randn(n, n, generator=gen) for n in (4, 2, 6)],
    suspects={
        "the diagonal is hidden as well: triu(1) begins above it": filled(lambda mask: mask.triu()),
        "the past is hidden, and not the future": filled(lambda mask: mask.tril(-1)),
        "the past and the diagonal are hidden: the mask is True where it should be False": filled(torch.tril),
        "zeros above the diagonal, where -inf should stand": torch.tril,
        "0 times -inf is NaN: fill, and do not multiply": lambda scores: (
            scores + torch.ones_like(scores).triu(1) * -INF
        ),
    },
)
