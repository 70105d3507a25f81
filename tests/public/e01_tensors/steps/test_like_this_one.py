"""The suite of like_this_one."""

import torch

from grader.checks.contract import Contract, device, given


def pairs(gen):
    sizes = torch.randint(2, 9, (3,), generator=gen).tolist()
    whole, decimal = torch.randint(9, sizes[:2], generator=gen), torch.rand(sizes, generator=gen)
    values = torch.randint(2, 250, (3,), generator=gen).tolist()
    return {
        "a table of whole numbers": given(whole, values[0]),
        "3 dims of decimal numbers": given(decimal, values[1]),
        "a row of decimal numbers": given(decimal[0, 0], values[2]),
    }


contract = Contract(
    "like_this_one(x, value)",
    reference=lambda x, value: (0 * x, 0 * x + 1, 0 * x + value),
    example=(
        given(torch.tensor([[3, 4], [1, 5]]), 7),
        (torch.tensor([[0, 0], [0, 0]]), torch.tensor([[1, 1], [1, 1]]), torch.tensor([[7, 7], [7, 7]])),
    ),
    inputs=pairs,
    suspects={
        "the third holds ones, and not value": lambda x, value: (0 * x, 0 * x + 1, 0 * x + 1),
        "torch.zeros(x.shape) takes only the shape from x: its numbers are decimal": lambda x, value: (
            torch.zeros(x.shape),
            torch.ones(x.shape),
            torch.full(x.shape, float(value)),
        ),
        "torch.full(x.shape, value) takes only the shape from x, and its dtype from value": lambda x, value: (
            0 * x,
            0 * x + 1,
            torch.full(x.shape, value),
        ),
    },
    job=[device(title="They lie where x lies, also on another device than the CPU.")],
)
