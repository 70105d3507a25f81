"""Who moves the weights: `an_optimizer(model, lr)`.

An optimizer holds the parameters of a model, and moves them against their gradients. Make one of the kind
AdamW for all parameters of the model, with the learning rate `lr`.

    model = nn.Linear(3, 2)
    optimizer = an_optimizer(model, 0.01)
    # holds weight and bias, and moves them by about 0.01 a step

New here: `torch.optim.SGD(model.parameters(), lr=0.1)` moves each parameter by -0.1 times its gradient.
`torch.optim.AdamW` is called the same way, and fits the step to each parameter: the usual first choice.
"""

import torch
from torch import nn


def an_optimizer(model: nn.Module, lr: float) -> torch.optim.Optimizer:
    raise NotImplementedError
