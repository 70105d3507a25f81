"""The suite of without_the_loop."""

import torch

from grader.checks.contract import Contract, flat_cost

contract = Contract(
    "without_the_loop(x)",
    reference=lambda x: torch.stack([row.square().sum().sqrt() for row in x]),
    example=([[3.0, 4.0], [0.0, 2.0]], [5.0, 2.0]),
    inputs=lambda gen: [torch.randn(size, generator=gen) for size in [(2, 3), (4, 4), (1, 5), (6, 1)]],
    job=[flat_cost(lambda n: torch.ones(n, 3), over="rows", title="There is no loop over the rows.")],
    suspects={
        "these are the lengths of the columns: a length for each row is taken along dim=1": lambda x: x.norm(
            dim=0
        ),
        "this is one length for all numbers together: dim=1 is missing": lambda x: x.norm(),
        "the root is missing": lambda x: x.square().sum(1),
    },
)
