"""Ranks that run out of batches: they must not leave the others waiting.

The files that each rank reads are not equally long. A rank that is done leaves the loop; the others wait in their next backward
for its gradient, for ever. Cutting everybody to the shortest throws data away. Let ranks that are done answer the others.

    # two ranks, a weight of 1., SGD with lr=0.1, the mean squared error, all targets 0
    # rank 0 has the batches x [[1.]] and x [[2.]], rank 1 only x [[1.]]
    train(model, optimizer, loss_fn, batches)
    # step 1: both have the gradient 2, the weight is 0.8; step 2: rank 0 has 6.4, rank 1 none:
    # (6.4 + 0) / 2 = 3.2, the weight is 0.48 on both
    # [1.0, 2.56] on rank 0, [1.0] on rank 1: each rank's own losses

- There are as many steps as the longest rank has batches.
- A gradient is the mean over all ranks; one without a batch adds 0.
- Afterwards all ranks have the same weights.

Fine print:
- batches may be an iterator that has no length.
- A rank may have no batch at all.
"""

from collections.abc import Callable, Iterable

import torch
from jaxtyping import Float
from torch import Tensor, nn

Batch = tuple[Float[Tensor, "rows features"], Float[Tensor, "rows outputs"]]


def train(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss_fn: Callable[[Tensor, Tensor], Float[Tensor, ""]],
    batches: Iterable[Batch],
) -> list[float]:
    """Train a model, which is the same on all ranks, on this rank's batches; their losses."""
    raise NotImplementedError
