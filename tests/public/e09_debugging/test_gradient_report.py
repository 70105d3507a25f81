"""The worked example of gradient_report, and a healthy model."""

import torch
from torch import nn

from grader.checks import expect_equal


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    model = nn.ModuleDict({"embed": nn.Linear(2, 2), "head": nn.Linear(2, 1)})
    model.embed.weight.grad = torch.tensor([[300.0, 0.0], [400.0, 0.0]])
    model.head.weight.grad = torch.zeros(1, 2)
    model.head.bias.grad = torch.tensor([0.5])
    wanted = [
        ("embed.weight", 500.0, "exploding"),
        ("embed.bias", None, "none"),
        ("head.weight", 0.0, "zero"),
        ("head.bias", 0.5, "ok"),
    ]
    rows = answer.gradient_report(model, limit=100.0)
    yours = [
        (row.name, round(row.norm, 4) if isinstance(row.norm, float) else row.norm, row.state) for row in rows
    ]
    suspects = {
        "parameters without a gradient have a row, too": lambda: [
            row for row in wanted if row[1] is not None
        ],
        "the norm of what has no gradient is None, not 0": lambda: [
            (name, norm or 0.0, state) for name, norm, state in wanted
        ],
    }
    expect_equal(yours, wanted, "gradient_report(model, limit=100.0)", suspects=suspects)


def test_healthy_model(answer):
    """After a backward through a healthy model every gradient is ok."""
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    model(torch.tensor([[1.0, -2.0, 0.5]])).sum().backward()
    states = [row.state for row in answer.gradient_report(model)]
    expect_equal(states, ["ok"] * 4, "the states in gradient_report(model)")
