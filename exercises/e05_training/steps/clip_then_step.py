"""One bad batch must not throw the weights away: `clip_then_step(model, optimizer, x, y)`.

A strange batch can give huge gradients. Write the five lines (the loss is the mean squared error) with a
sixth: after backward, before the weights move, all gradients together are shortened to the norm 1 if they are
longer. (The norm is the root of the sum of the squares of all gradients.)

    # the weights 0 and 0 get the gradients 2 and 2, the bias 0 gets 1: the
    # norm is √(4 + 4 + 1) = 3
    # divided by 3 they are 0.667, 0.667 and 0.333; SGD with lr=0.3 moves
    # weights and bias by that
    clip_then_step(model, optimizer, x, y)
    # weights -0.2 and -0.2, bias -0.1

New here: `nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)` shortens the gradients in place.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F


def clip_then_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    x: Float[Tensor, "rows features"],
    y: Float[Tensor, "rows 1"],
) -> None:
    raise NotImplementedError
