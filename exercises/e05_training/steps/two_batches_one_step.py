"""A batch that is too large for the memory: `two_batches_one_step(model, optimizer, first, second)`.

Memory holds only half of the batch that is wanted. Take a single step by the mean loss of both batches. Each
is a pair (x, y), with equally many rows; the loss is `F.mse_loss`.

    # weight 2.0, SGD with lr=0.1; the first batch alone has the gradient 2,
    # the second 24
    two_batches_one_step(model, optimizer, first, second)
    # the weight is 2.0 - 0.1 · 13 = 0.7

New here: `backward` adds to the gradients; two backwards of `loss / 2` leave the mean. Clear the gradients
once, before both, and call backward of the first before you run the second.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

Batch = tuple[Float[Tensor, "rows features"], Float[Tensor, "rows 1"]]


def two_batches_one_step(
    model: nn.Module, optimizer: torch.optim.Optimizer, first: Batch, second: Batch
) -> None:
    raise NotImplementedError
