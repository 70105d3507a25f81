"""The contract of missing_unsqueeze."""

import torch

from grader.checks import expect_close, expect_raises

CALL = "weighted_mse(predictions, targets, weights)"


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    predictions = torch.tensor([[1.0], [2.0], [3.0]])
    targets = torch.tensor([1.0, 2.0, 5.0])
    weights = torch.tensor([1.0, 2.0, 1.0])
    expect_close(answer.weighted_mse(predictions, targets, weights), torch.tensor(1.0), CALL)


def test_perfect_predictions(answer):
    """A model that is right about each row has a loss of zero."""
    targets = torch.arange(4.0)
    loss = answer.weighted_mse(targets.view(4, 1), targets, torch.ones(4))
    expect_close(loss, torch.tensor(0.0), f"{CALL} of perfect predictions")


def test_shapes_that_do_not_fit(answer):
    """Predictions without the dimension of outputs raise ValueError."""
    predictions, targets, weights = torch.zeros(3), torch.zeros(3), torch.ones(3)
    expect_raises(
        ValueError,
        lambda: answer.weighted_mse(predictions, targets, weights),
        f"{CALL} with predictions of shape (3,)",
    )
