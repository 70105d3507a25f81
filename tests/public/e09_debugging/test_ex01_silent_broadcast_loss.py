"""The contract of weighted_mse, share_within and train_step."""

import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_raises, expect_that

INPUTS, TARGETS = torch.tensor([[1.0], [2.0], [3.0], [4.0]]), torch.tensor([1.0, 2.0, 3.0, 4.0])


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    pairs = "(4, 1) met (4,) and became (4, 4): a mean over all pairs"
    call, suspects = "weighted_mse(inputs, targets)", {pairs: lambda: torch.tensor(2.5)}
    expect_close(answer.weighted_mse(INPUTS, TARGETS), torch.tensor(0.0), call, suspects=suspects)
    yours = answer.weighted_mse(INPUTS, TARGETS + 1, torch.tensor([1.0, 1.0, 1.0, 3.0]))
    suspects = {"divided by the number of examples, not by the sum of the weights": lambda: torch.tensor(1.5)}
    expect_close(yours, torch.tensor(1.0), "weighted_mse(inputs, targets + 1, weights)", suspects=suspects)
    share = answer.share_within(INPUTS, TARGETS, tolerance=0.5)
    expect_equal(share, 1.0, "share_within(inputs, targets, tolerance=0.5)", suspects={pairs: lambda: 0.25})


def test_learns_a_line(answer):
    """A linear model learns a line, and does not stop at the mean of the targets."""
    model = nn.Linear(1, 1)
    nn.init.zeros_(model.weight)
    nn.init.zeros_(model.bias)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(300):
        loss = answer.train_step(model, optimizer, INPUTS, TARGETS)
    expect_that(loss < 0.01, "the loss stays high", yours=f"{loss:.4f} after 300 steps", wanted="below 0.01")


def test_bad_input(answer):
    """Batches of different sizes raise ValueError, also where one is of size 1."""
    for targets in (torch.zeros(3), torch.zeros(1)):
        call = f"weighted_mse of (4, 1) and {tuple(targets.shape)}"
        expect_raises(ValueError, lambda targets=targets: answer.weighted_mse(INPUTS, targets), call)
