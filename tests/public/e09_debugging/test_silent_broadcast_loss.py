"""The worked example of weighted_mse and share_within."""

import torch

from grader.checks import expect_close, expect_equal, expect_raises

PREDICTIONS, TARGETS = torch.tensor([[1.0], [2.0], [3.0], [4.0]]), torch.tensor([1.0, 2.0, 3.0, 4.0])
ALL_PAIRS = "(4, 1) minus (4,) is (4, 4): a mean over all pairs"


def test_worked_example(answer):
    """The losses of the worked example come out: 0 and 1."""
    call, suspects = "weighted_mse(predictions, targets)", {ALL_PAIRS: lambda: torch.tensor(2.5)}
    expect_close(answer.weighted_mse(PREDICTIONS, TARGETS), torch.tensor(0.0), call, suspects=suspects)
    yours = answer.weighted_mse(PREDICTIONS, TARGETS + 1, torch.tensor([1.0, 1.0, 1.0, 3.0]))
    suspects = {
        "divided by the number of examples, not by the sum of the weights": lambda: torch.tensor(1.5),
        "each weight counts for every error: a row of weights met a column of errors": lambda: torch.tensor(
            4.0
        ),
    }
    expect_close(
        yours, torch.tensor(1.0), "weighted_mse(predictions, targets + 1, weights)", suspects=suspects
    )


def test_share_of_the_example(answer):
    """The share of the worked example comes out: all of them."""
    share, call = (
        answer.share_within(PREDICTIONS, TARGETS, tolerance=0.5),
        "share_within(predictions, targets, 0.5)",
    )
    expect_equal(
        share, 1.0, call, suspects={ALL_PAIRS: lambda: 0.25, "this is how many, not which share": lambda: 4.0}
    )


def test_different_sizes(answer):
    """Batches of different sizes raise an error, also where one is of size 1."""
    for targets in (torch.zeros(3), torch.zeros(1)):
        call = f"weighted_mse of predictions (4, 1) and targets {tuple(targets.shape)}"
        expect_raises((ValueError, RuntimeError), lambda y=targets: answer.weighted_mse(PREDICTIONS, y), call)
