"""The worked example of fit."""

import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_equal, expect_number


def worked_example():
    norm = nn.BatchNorm1d(1, momentum=0.5)
    optimizer = torch.optim.SGD(norm.parameters(), lr=0.0)
    train = [(torch.tensor([[0.0], [4.0]]), torch.zeros(2, 1))]
    return norm, optimizer, train, [(torch.tensor([[1.0]]), torch.zeros(1, 1))]


def test_worked_example(answer):
    """The worked example of the statement comes out: losses of 1, 0 and 0.04."""
    norm, optimizer, train, val = worked_example()
    history = answer.fit(norm, F.mse_loss, optimizer, train, val, epochs=2)
    suspects = {"one for each epoch: the loss before the first epoch comes first": lambda: 2}
    expect_equal(len(history), 3, "the number of losses from fit(…, epochs=2)", suspects=suspects)
    stuck = {"the second epoch does not train: back to train() after each validation": lambda: 0.0}
    for number, (loss, wanted) in enumerate(zip(history, [1.0, 0.0, 0.04], strict=True)):
        call = f"fit(…, epochs=2)[{number}]"
        expect_number(loss, wanted, call, rtol=1e-4, atol=1e-9, suspects=stuck if number == 2 else None)


def test_each_epoch_trains(answer):
    """The batch norm learns from the training batches of every epoch, and from no others."""
    norm, optimizer, train, val = worked_example()
    answer.fit(norm, F.mse_loss, optimizer, train, val, epochs=3)
    what = "the batches that went into the batch norm's statistics in 3 epochs"
    expect_equal(int(norm.num_batches_tracked), 3, what)
