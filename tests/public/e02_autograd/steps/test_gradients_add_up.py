"""The suite of gradients_add_up."""

import torch

from grader.checks.contract import Contract, given

ADDED = "w.grad still held the first gradient when the second came: they were added up"
WRITTEN = "`first` is the second gradient: zero_() wrote into the tensor that both names stand for"

contract = Contract(
    "gradients_add_up(w)",
    reference=lambda w: (2 * w, 3 * w**2),
    example=(given(torch.tensor([1.0, 2.0])), (torch.tensor([2.0, 4.0]), torch.tensor([3.0, 12.0]))),
    inputs=lambda gen: [torch.randn(size, generator=gen) for size in (2, 5, 8)],
    suspects={
        ADDED: lambda w: 2 * (2 * w + 3 * w**2,),
        WRITTEN: lambda w: 2 * (3 * w**2,),
        "the gradient was cleared before it was kept": lambda w: (None, None),
    },
)
