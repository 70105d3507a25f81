"""One training step on several processes: the step that one process would take on all their rows.

Each rank has a copy of the model in DistributedDataParallel (DDP) and a shard of the batch. DDP's backward
leaves the average of the ranks' gradients on every rank. Shards differ in size, so that this is the gradient
of the whole batch only if the ranks' losses are made for it:

    # the weight is 2.0, the optimizer SGD with lr=0.1, the loss (prediction - target)² for each row
    # rank 0 has the inputs [[1.]]       and the targets [[1.]]:        its loss is 1
    # rank 1 has the inputs [[2.], [3.]] and the targets [[3.], [2.]]:  its losses are 1 and 16
    ddp_step(model, loss_fn, optimizer, inputs, targets)  # 6.0 on both ranks: (1 + 1 + 16) / 3
    # gradient (2·1·1 + 2·1·2 + 2·4·3) / 3 = 10 on both, so the weight is 2.0 - 0.1 · 10 = 1.0
    # with max_norm=5.0 the gradient is scaled down to 5.0, and the weight is 1.5

Rules:
- The caller has joined the ranks to the default process group (gloo), wrapped the model (DDP with its default
  options; float32 or float64; every parameter counts in the loss), cut the batch into shards, and given each
  rank an optimizer over all of its parameters, in one group or in more. Every rank calls ddp_step, with its
  own shard. There may be any number of ranks, also one.
- The loss of the batch is the mean of `loss_fn(model(inputs), targets)` over the rows of all ranks together.
- Shards may differ in size, and from step to step. Some, not all, may be empty: model and loss_fn then run on
  0 rows (the mean over which is NaN), and the rank takes part like the others.
- With `max_norm`, the gradients of the whole batch are scaled down to this norm, taken over all parameters
  together, where it is larger (`clip_grad_norm_`). With None they are not clipped.
- Gradients that lie in `.grad` beforehand have no influence. Afterwards every rank has in `.grad` what the
  optimizer was given: the gradient of the whole batch, clipped if asked.
- Call the model itself, once: `model.module` does not synchronise. loss_fn and `optimizer.step` run once as
  well. The modes of the model (train or eval), the inputs and the targets stay as they are, and in a later
  backward of the caller's own DDP averages as before.
- A step costs the messages that one forward and backward of DDP send, and at most two collectives more, into
  which a rank hands at most 128 bytes together.
- The result is the loss of the batch before the update: a Python float, the same on every rank.
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
    """Move all ranks' copies of the model by one step on the union of their shards.

    Args:
        model: the model, wrapped by the caller.
        loss_fn: maps predictions and targets, in this order, to one loss for each row, (rows,).
        optimizer: holds the parameters of this rank's copy.
        inputs: this rank's shard, (rows, *features), of floating or of integer dtype.
        targets: what should come out, (rows, *labels).
        max_norm: the largest norm of the gradients, above 0, or None.

    Returns:
        The mean loss over the rows of all ranks, before the update.
    """
    losses = loss_fn(model(inputs), targets)  # (rows,)
    total = torch.stack([losses.detach().sum(), losses.new_tensor(len(losses))])  # (2,)
    dist.all_reduce(total)  # sums of the losses and of the rows of all ranks
    loss, rows = total.tolist()
    optimizer.zero_grad()
    # DDP divides the sum of all ranks' gradients by their number, where the number of rows is wanted
    (losses.sum() * (dist.get_world_size() / rows)).backward()
    if max_norm is not None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)  # the same on every rank
    optimizer.step()
    return loss / rows
