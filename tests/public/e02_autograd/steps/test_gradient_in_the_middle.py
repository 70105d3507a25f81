"""The suite of gradient_in_the_middle."""

import torch

from grader.checks.contract import Contract

contract = Contract(
    "gradient_in_the_middle(x)",
    reference=lambda x: 4 * x,
    example=([1.0, -3.0], [4.0, -12.0]),
    inputs=lambda gen: [torch.randn(size, generator=gen) for size in (3, 5, 8)],
    suspects={
        "h is no leaf: it keeps no gradient, unless h.retain_grad() is called before backward": lambda x: (
            None
        ),
        "this is the gradient for x: that for h is asked for": lambda x: 8 * x,
        "nothing was recorded: x.requires_grad_() comes before h": lambda x: ((2 * x) ** 2).sum().backward(),
        "h requires no gradient, and can keep none: x.requires_grad_() comes before h": (
            lambda x: (2 * x).retain_grad()
        ),
    },
)
