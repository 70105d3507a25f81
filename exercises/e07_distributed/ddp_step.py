"""One step of data-parallel training: many processes, one model.

Each rank has a copy of the model in DistributedDataParallel (DDP), an optimizer over its parameters, and its share of
the batch: as many rows as every other rank. DDP's backward leaves the mean of the ranks' gradients on every rank.
Take one step, and return the mean loss over the rows of all ranks: a Python float, the same on each.

    # weight 2.0, SGD with lr=0.1, loss (prediction - target)² for each row
    # rank 0: inputs [[1.]], targets [[1.]]: loss 1      rank 1: inputs [[3.]], targets [[2.]]: loss 16
    ddp_step(model, loss_fn, optimizer, inputs, targets)  # 8.5 on both ranks
    # gradient (2·1·1 + 2·4·3) / 2 = 13 on both: the weight is 2.0 - 0.1 · 13 = 0.7

- `loss_fn(predictions, targets)` gives one loss for each row.
- Gradients of earlier steps have no influence.
- Call the model itself: `model.module` does not synchronise.

Fine print:
- Clear before the backward: then what somebody else left in `.grad` has no influence either.
- Shares may differ in size, and be empty. Every row of the batch counts the same: weigh a rank's loss by its rows.
- With `max_norm` the gradient of the whole batch is clipped to this norm, as by `clip_grad_norm_`.
- Beyond DDP's own messages at most two collectives, of at most 128 bytes together on each rank.
- Model, loss_fn and optimizer run once; modes, inputs and targets stay as they are.
"""

from collections.abc import Callable

import torch
import torch.distributed as dist
from jaxtyping import Float, Shaped
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel


def ddp_step(
    model: DistributedDataParallel,
    loss_fn: Callable[[Tensor, Tensor], Float[Tensor, " rows"]],
    optimizer: torch.optim.Optimizer,
    inputs: Shaped[Tensor, "rows *features"],
    targets: Shaped[Tensor, "rows *labels"],
    max_norm: float | None = None,
) -> float:
    """Take one step on the rows of all ranks, and return their mean loss before it."""
    raise NotImplementedError
