"""The worked example of scheduler_order."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.optim.lr_scheduler import StepLR

from grader.checks import expect_equal

MISTAKES = {
    "by_epoch steps after each batch": [0.8, 0.4, 0.2, 0.1, 0.05, 0.025],
    "by_epoch steps before the epoch, not after it": [0.4, 0.4, 0.2, 0.2, 0.1, 0.1],
    "the rate is read when the schedule has stepped already": [0.4, 0.2, 0.1, 0.05, 0.025, 0.0125],
}


@pytest.mark.filterwarnings("ignore:Detected call of")
def test_worked_example(answer):
    """The worked example of the statement comes out: the rate is halved after each epoch."""
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.8)
    halve = StepLR(optimizer, step_size=1, gamma=0.5)
    batches = [(torch.tensor([[0.5]]), torch.tensor([[1.0]]))] * 2
    rates = answer.train(model, F.mse_loss, optimizer, batches, 3, by_epoch=halve)
    suspects = {words: lambda found=found: found for words, found in MISTAKES.items()}
    yours = [round(float(rate), 4) for rate in rates]
    expect_equal(yours, [0.8, 0.8, 0.4, 0.4, 0.2, 0.2], "train(…) with by_epoch=halve", suspects=suspects)
