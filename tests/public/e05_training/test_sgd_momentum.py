"""The worked example of SGD."""

import torch
from torch import nn

from grader.checks import expect_close


def test_worked_example(answer):
    """The worked example of the statement comes out: two steps lead to 1.6 and 1.02."""
    p = nn.Parameter(torch.tensor([2.0]))
    optimizer = answer.SGD([p], lr=0.1, momentum=0.5, weight_decay=0.5)
    mistakes = {
        "weight decay is missing": [1.7, 1.25],
        "there is no velocity": [1.6, 1.22],
        "the gradient counts by 1 - momentum, as in Adam: here it counts whole": [1.8, 1.505],
    }
    for number, wanted in enumerate([1.6, 1.02]):
        p.grad = torch.tensor([3.0])
        optimizer.step()
        there = {words: torch.tensor([path[number]]) for words, path in mistakes.items()}
        suspects = {words: lambda p=p: p for words, p in there.items()}
        call = f"p after step {number + 1}"
        expect_close(p.detach(), torch.tensor([wanted]), call, suspects=suspects)


def test_no_gradient(answer):
    """A parameter without a gradient stays as it is."""
    p = nn.Parameter(torch.tensor([2.0]))
    answer.SGD([p], lr=0.1, momentum=0.5, weight_decay=0.5).step()
    expect_close(p.detach(), torch.tensor([2.0]), "a parameter without a gradient after optimizer.step()")
