"""The worked example of AdamW."""

import torch
from torch import nn

from grader.checks import expect_close, expect_equal


def worked_example(answer):
    p = nn.Parameter(torch.tensor([1.0, -2.0]))
    optimizer = answer.AdamW([p], lr=0.1, weight_decay=0.5)
    p.grad = torch.tensor([4.0, 0.0])
    return p, optimizer


def test_worked_example(answer):
    """The worked example of the statement comes out: the first step leads to [0.85, -1.9]."""
    p, optimizer = worked_example(answer)
    optimizer.step()
    m, v = 0.1 * 4.0, 0.001 * 4.0**2
    suspects = {
        "there is no bias correction: divide m by 1 - β₁ᵗ and v by 1 - β₂ᵗ, t from 1 on": lambda: (
            torch.tensor([0.95 - 0.1 * m / v**0.5, -1.9])
        ),
        "v is not divided by 1 - β₂ᵗ": lambda: torch.tensor([0.95 - 0.1 * 4.0 / v**0.5, -1.9]),
        "the decay goes through the moments, as in Adam: here it is apart from them": lambda: torch.tensor(
            [0.9, -1.9]
        ),
        "the decay comes after the step: here it comes before": lambda: torch.tensor([0.9 * 0.95, -1.9]),
    }
    expect_close(p.detach(), torch.tensor([0.85, -1.9]), "p after optimizer.step()", suspects=suspects)


def test_no_gradient(answer):
    """A parameter without a gradient stays as it is."""
    p, optimizer = worked_example(answer)
    q = nn.Parameter(torch.tensor([3.0]))
    optimizer.add_param_group({"params": [q]})
    optimizer.step()
    expect_equal(q.detach(), torch.tensor([3.0]), "a parameter without a gradient after optimizer.step()")
    expect_close(p.detach(), torch.tensor([0.85, -1.9]), "a parameter with one after optimizer.step()")
