"""What grades merge_heads: order of numbers, gradients, views, devices, cost."""

import torch

from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    empties,
    flat_cost,
    strides,
    untouched,
    views,
)


def side_by_side(x):
    """Head after head, built by concatenation: slow and plain."""
    return torch.cat(x.unbind(1), dim=-1)


def transposed(sizes):
    """Heads that lie side by side in memory."""
    batch, heads, time, dim = sizes
    return torch.arange(torch.Size(sizes).numel()).view(batch, time, heads, dim).transpose(1, 2).float()


contract = Contract(
    "merge_heads(x)",
    reference=side_by_side,
    dims="batch time width",
    inputs=lambda gen: {
        "two sequences": torch.randn(2, 3, 4, 5, generator=gen),
        "one sequence of seven": torch.randn(1, 2, 7, 3, generator=gen),
        "a single position": torch.randn(3, 4, 1, 2, generator=gen),
        "one head": torch.randn(1, 1, 3, 4, generator=gen),
    },
    gradient="x",
    job=[flat_cost(lambda heads: torch.zeros(2, heads, 3, 4), over="heads")],
    fine=[
        views(
            inputs=lambda gen: {
                "a transposed view": transposed((2, 3, 4, 5)),
                "one head in a transposed view": transposed((2, 1, 4, 5)),
                "heads of one number, transposed": transposed((2, 5, 4, 1)),
            },
            title="Heads that already lie side by side in memory are merged without a copy.",
        ),
        strides(),
        dtypes(torch.int64, torch.bool, torch.bfloat16, torch.complex64),
        empties(inputs=lambda gen: [torch.zeros(s) for s in [(0, 2, 3, 4), (2, 3, 0, 4), (2, 3, 4, 0)]]),
        untouched(),
        device(),
    ],
)
