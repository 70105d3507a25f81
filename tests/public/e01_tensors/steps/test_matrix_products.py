"""The suite of matrix_products."""

import torch

from grader.checks.contract import Contract

BASKETS = [[2.0, 1.0], [0.0, 3.0]]


def pairs(*sizes):
    return lambda gen: [tuple(torch.rand(size, generator=gen) for size in pair) for pair in sizes]


STAR = {
    "`*` multiplies number by number: `@` also adds up over the fruits": torch.mul,
    "the prices come first: their last dim is not the fruits": lambda baskets, prices: prices @ baskets,
}
vector = Contract(
    "one_shop(baskets, prices)",
    reference=lambda baskets, prices: (baskets * prices).sum(1),
    example=((BASKETS, [5.0, 4.0]), [14.0, 12.0]),
    inputs=pairs(((2, 4), 4), ((3, 3), 3), ((4, 1), 1)),
    suspects=STAR,
)
matrix = Contract(
    "shops(baskets, prices)",
    reference=lambda baskets, prices: (baskets[:, :, None] * prices).sum(1),
    example=((BASKETS, [[5.0, 6.0], [4.0, 1.0]]), [[14.0, 13.0], [12.0, 3.0]]),
    inputs=pairs(((2, 4), (4, 3)), ((3, 3), (3, 3))),
    suspects=STAR,
)
batch = Contract(
    "weeks(baskets, prices)",
    reference=lambda baskets, prices: torch.stack([week @ prices for week in baskets]),
    inputs=pairs(((2, 4, 3), (3, 5)), ((3, 3, 3), (3, 3))),
    suspects={**STAR, "`torch.bmm` wants a batch on both sides: `@` does not": torch.bmm},
)
