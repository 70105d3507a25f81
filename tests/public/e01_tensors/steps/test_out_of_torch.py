"""The suite of out_of_torch."""

import torch

from grader.checks.contract import Contract

contract = Contract(
    "out_of_torch(x)",
    reference=lambda x: (x.sum().item(), x.tolist()),
    example=([[1.5, 2.0], [3.0, 0.5]], (7.0, [[1.5, 2.0], [3.0, 0.5]])),
    inputs=lambda gen: [torch.rand(size, generator=gen) for size in [(3, 2), (4,), (2, 2, 3)]],
    suspects={
        ".item() takes a tensor of one number: add x up before": lambda x: x.item(),
        "the numbers are not added up": lambda x: (x.flatten()[0].item(), x.tolist()),
        "the list is to have as many dims as x": lambda x: (x.sum().item(), x.flatten().tolist()),
    },
)
