"""The worked example of RecencyBias, and how often it is compiled."""

import torch

from grader.checks import expect_close, expect_that
from grader.checks.compile.graphs import compiled

CALL = "RecencyBias(heads=2, warmup=4)"


def test_worked_example(answer):
    """The worked examples of the statement come out."""
    bias = answer.RecencyBias(heads=2, warmup=4)
    wanted = torch.tensor([[0.0, -0.125, -0.25], [-0.125, 0.0, -0.125], [-0.25, -0.125, 0.0]])
    suspects = {
        "the strength is 0: count before, not after": lambda: 0 * wanted,
        "the strength is 1": lambda: 4 * wanted,
    }
    first = bias(torch.zeros(1, 2, 3, 3))[0, 0].detach()
    expect_close(first, wanted, "head 0 in the first step", dims="queries keys", suspects=suspects)
    second = bias(torch.zeros(1, 2, 2, 2))[0, 1].detach()
    wanted = torch.tensor([[0.0, -0.125], [-0.125, 0.0]])
    expect_close(second, wanted, "head 1 in the second step", dims="queries keys")


def test_two_graphs(answer):
    """Four training steps with four lengths make two graphs, not four."""
    with compiled(answer.RecencyBias(heads=2, warmup=4), CALL) as bias:
        for step, time in enumerate((5, 3, 8, 4), start=1):
            bias(torch.zeros(1, 2, time, time))
            expect_that(
                1 <= len(bias.graphs) <= 2,
                f"wrong number of graphs after {step} training steps",
                yours=f"{len(bias.graphs)}, one of them for time {time}",
                wanted="one for the first length, one for all others",
            )
