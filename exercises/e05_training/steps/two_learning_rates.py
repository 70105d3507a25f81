"""Old weights slowly, new ones fast: `two_learning_rates(model, small, large)`.

A model has a body that was trained before, and a new head. Make an SGD that moves `model.body` with the
learning rate `small`, and `model.head` with `large`.

    optimizer = two_learning_rates(model, 0.01, 0.5)
    # where all gradients are 1, a step moves the body by -0.01 and the head
    # by -0.5

New here: an optimizer also takes a list of groups: `torch.optim.SGD([{...}, {...}])`. A group is a dictionary
such as `{"params": model.body.parameters(), "lr": 0.01}`; no other lr is needed.
"""

import torch
from torch import nn


def two_learning_rates(model: nn.Module, small: float, large: float) -> torch.optim.Optimizer:
    raise NotImplementedError
