"""The suite of flops_of_a_layer."""

import torch
from torch import nn

from grader.checks.contract import Contract, given


def drawn(gen):
    rows, inside, outside = (torch.randint(2, 40, (3,), generator=gen)).tolist()
    return given(nn.Linear(inside, outside), torch.zeros(rows, inside))


def flops(layer, x):
    return 2 * x.shape[0] * x.shape[1] * layer.out_features


contract = Contract(
    "flops_of_a_layer(layer, x)",
    reference=flops,
    example=(given(nn.Linear(3, 4), torch.zeros(5, 3)), 120),
    inputs=lambda gen: [drawn(gen) for _ in range(4)],
    suspects={
        "multiplications and additions both count: twice as many": lambda layer, x: flops(layer, x) // 2,
        "these are the operations for one row": lambda layer, x: flops(layer, x) // len(x),
        "this counts the parameters: each is used once for every row": lambda layer, x: sum(
            p.numel() for p in layer.parameters()
        ),
        "the additions of the bias are counted, and do not count": lambda layer, x: (
            flops(layer, x) + len(x) * layer.out_features
        ),
    },
)
