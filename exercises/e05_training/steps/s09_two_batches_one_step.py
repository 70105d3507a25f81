"""A batch that is too large for the memory: `two_batches_one_step(model, optimizer, first, second)`.

Memory holds one batch, and one twice as large is wanted. Run the model on one batch, then on the other, and
take a single step by the mean loss of both. Each batch is a pair (x, y), both of equally many rows; the
loss is the mean squared error.

    # weight 2.0, SGD with lr=0.1; the first batch alone has the gradient 2, the second 24
    two_batches_one_step(model, optimizer, first, second)       # the weight is 2.0 - 0.1 · 13 = 0.7

New here: `backward` adds to the gradients. Two backwards of `loss / 2` leave the mean.
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
