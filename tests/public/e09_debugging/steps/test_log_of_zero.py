"""The suite of log_of_zero."""

import torch

from grader.checks.contract import Contract, gradients


def without_zeros(p, target):
    there = target > 0
    return -(target[there] * p[there].log()).sum()


def drawn(gen, classes, zeros):
    p, target = torch.rand(2, classes, generator=gen) + 0.1
    p[:zeros] = target[:zeros] = 0.0
    return p / p.sum(), target / target.sum()


GRADIENT = "The gradient is right, and 0 where target is 0: p is mended before the logarithm, not behind it."

contract = Contract(
    "log_of_zero(p, target)",
    reference=without_zeros,
    example=((torch.tensor([0.0, 0.5]), torch.tensor([0.0, 1.0])), torch.tensor(0.6931)),
    inputs=lambda gen: {
        "two zeros of four": drawn(gen, 4, 2),
        "one zero of three": drawn(gen, 3, 1),
        "no zeros": drawn(gen, 5, 0),
    },
    gradient="p",
    job=[gradients("p", title=GRADIENT)],
    ulps=1024,  # p + 1e-7 is right as well
    suspects={
        "0 · log 0 is NaN: p has to be clamped before the logarithm": lambda p, t: -(t * p.log()).sum()
    },
)
