"""The contract of fit."""

import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_that


def worked_example():
    norm = nn.BatchNorm1d(1, momentum=0.5)
    optimizer = torch.optim.SGD(norm.parameters(), lr=0.0)
    train = [(torch.tensor([[0.0], [4.0]]), torch.zeros(2, 1))]
    return norm, optimizer, train, [(torch.tensor([[1.0]]), torch.zeros(1, 1))]


def test_worked_example(answer):
    """The worked example of the statement comes out: losses of 1, 0 and 0.04."""
    norm, optimizer, train, val = worked_example()
    history = answer.fit(norm, F.mse_loss, optimizer, train, val, epochs=2)
    expect_equal(type(history).__name__, "list", "the type of fit(…)")
    expect_equal([type(loss).__name__ for loss in history], ["float"] * 3, "the types in fit(…, epochs=2)")
    expect_close(
        torch.tensor(history),
        torch.tensor([1.0, 0.0, 0.04]),
        "fit(…, epochs=2)",
        ulps=1000,  # the eps of the norm
        suspects={
            "the second epoch does not train: back to train() after each validation": lambda: torch.tensor(
                [1.0, 1e-30, 0.0]
            ),
        },
    )


def test_each_epoch_trains(answer):
    """The batch norm learns from the training batches of every epoch, and from no others."""
    norm, optimizer, train, val = worked_example()
    answer.fit(norm, F.mse_loss, optimizer, train, val, epochs=3)
    expect_equal(
        int(norm.num_batches_tracked), 3, "the batches that went into the batch norm's statistics in 3 epochs"
    )


def test_evaluation_mode_at_the_end(answer):
    """Afterwards the model is in evaluation mode."""
    norm, optimizer, train, val = worked_example()
    answer.fit(norm, F.mse_loss, optimizer, train, val, epochs=1)
    expect_that(not norm.training, "the model is in training mode after fit(…)")
