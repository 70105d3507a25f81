"""Does it learn at all? `fit_one_batch(model, optimizer, x, y)`.

Before hours of training, people let a network learn a single batch by heart: one that cannot do this has a
bug. While the loss (mean squared error) is not below 0.01, take a step. Return how many steps that took.

    # x is 1, y is 1, the weight is 0.0, SGD with lr=0.25
    # the loss is 1, and after each step 0.25, 0.0625, 0.0156, 0.0039
    fit_one_batch(model, optimizer, x, y)       # 4

New here: nothing but the loop: `while loss.item() >= 0.01:`. The weights move in a step, so after each step,
compute the loss again.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F


def fit_one_batch(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    x: Float[Tensor, "rows features"],
    y: Float[Tensor, "rows 1"],
) -> int:
    raise NotImplementedError
