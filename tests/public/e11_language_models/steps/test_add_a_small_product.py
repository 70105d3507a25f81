"""The suite of add_a_small_product."""

import torch

from grader.checks.contract import Contract, given

X, WEIGHT = torch.tensor([[1.0, 2.0]]), torch.eye(2)
A, B = torch.tensor([[1.0, 1.0]]), torch.tensor([[0.0], [1.0]])


def adapted(x, weight, a, b, scale):
    return torch.stack([(weight + scale * (b @ a)) @ row for row in x])


def draw(gen):
    def drawn(*size):
        return torch.randn(size, generator=gen)

    return {
        f"{rows} rows, {i} features in, {o} out, rank {r}": given(
            drawn(rows, i), drawn(o, i), drawn(r, i), drawn(o, r), scale
        )
        for rows, i, o, r, scale in [(2, 5, 3, 1, 0.5), (3, 4, 4, 2, 2.0), (4, 6, 5, 3, 1.5)]
    }


contract = Contract(
    "add_a_small_product(x, weight, a, b, scale)",
    reference=adapted,
    example=(given(X, WEIGHT, A, B, 2.0), [[1.0, 8.0]]),
    inputs=draw,
    dims="row feature",
    scale=4,  # products in another order
    suspects={
        "scale is left out": lambda x, weight, a, b, scale: adapted(x, weight, a, b, 1.0),
        "the whole is scaled: the weight is not": lambda x, weight, a, b, scale: (
            scale * adapted(x, weight, a, b, 1.0)
        ),
        "this is the small product alone: the weight is missing": lambda x, weight, a, b, scale: adapted(
            x, 0 * weight, a, b, scale
        ),
        "this is the layer as it was: the product is missing": lambda x, weight, a, b, scale: x @ weight.T,
        "the sum is not transposed": lambda x, weight, a, b, scale: x @ (weight + scale * (b @ a)),
        "this is the new weight: x is to go through it": lambda x, weight, a, b, scale: (
            weight + scale * (b @ a)
        ),
    },
)
