"""The worked example of evaluate, and the same for a dropout."""

import torch
from torch import nn
from torch.nn import functional as F

from grader.checks.contract import Contract, given

BATCHES = [
    (torch.tensor([[1.0], [1.0], [1.0]]), torch.zeros(3, 1)),
    (torch.tensor([[3.0]]), torch.zeros(1, 1)),
]


def unless_dropped(loss):
    """What a mistake makes of the plain model: a dropout in training mode gives any of these by chance."""
    return lambda model, loss_fn, batches: loss if isinstance(model, nn.Identity) else float("nan")


contract = Contract(
    "evaluate(model, loss_fn, batches)",
    example=[(given(model, F.mse_loss, BATCHES), 3.0) for model in (nn.Identity(), nn.Dropout(0.5))],
    suspects={
        "a mean of the batches' means: weigh each by the number of its examples": unless_dropped(5.0),
        "the batches' means are added up": unless_dropped(10.0),
        "the sum over all examples is not divided by their number": unless_dropped(12.0),
    },
)
