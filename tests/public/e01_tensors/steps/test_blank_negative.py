"""The suite of blank_negative."""

import torch

from grader.checks.contract import Contract, untouched

contract = Contract(
    "blank_negative(x)",
    reference=lambda x: torch.tensor([max(n, 0.0) for n in x.flatten().tolist()]).view(x.shape),
    example=([1.0, -2.0, 3.0], [1.0, 0.0, 3.0]),
    inputs=lambda gen: [torch.randn(size, generator=gen) for size in [(6,), (3, 4), (2, 3, 2)]],
    job=[untouched(name="x_stays", title="x itself stays as it is: the zeros stand in a copy.")],
    suspects={
        "the numbers below 0 are left out, and are to become 0": lambda x: x[x >= 0],
        "the numbers above 0 became 0, and those below are to": lambda x: x.clamp(max=0),
        "the numbers below 0 lost their sign": lambda x: x.abs(),
        "`if` wants one True or False, and a mask has many: write through the mask": lambda x: bool(x < 0),
    },
)
