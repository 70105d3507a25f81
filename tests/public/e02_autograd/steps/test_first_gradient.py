"""The suite of first_gradient."""

import torch

from grader.checks.contract import Contract

contract = Contract(
    "first_gradient(x)",
    reference=lambda x: 2 * x,
    example=([1.0, -3.0], [2.0, -6.0]),
    inputs=lambda gen: [torch.randn(size, generator=gen) for size in [(3,), (7,), (2, 4)]],
    suspects={
        "backward starts from one number: add the squares up first": lambda x: (
            x.requires_grad_() ** 2
        ).backward(),
        "nothing was recorded: x.requires_grad_() comes before the sum": lambda x: (x**2).sum().backward(),
        "None came back: backward returns nothing, the gradient is in x.grad": lambda x: None,
        "2 everywhere is the slope of 2 x: the square of x is `x ** 2`": lambda x: torch.full_like(x, 2),
        "these are the squares; their slopes are in x.grad": lambda x: x**2,
        "this is the gradient of the mean of the squares: their sum is asked for": lambda x: (
            2 * x / x.numel()
        ),
    },
)
