"""Gradient accumulation on several processes: many backwards, one synchronisation.

A batch too large for the devices comes in pieces, and each rank has pieces of its own in a
DistributedDataParallel (DDP) model. Left to itself, DDP sends all gradients round in the backward of every
piece, which is slow, and waits for ever where ranks have unequal numbers of pieces. Once for each step is
enough, in the backward of the rank's last piece. `model.no_sync()` is for that: a piece whose forward *and*
backward run inside it only adds to `.grad`.

    # the weight is 2.0, the optimizer SGD with lr=0.1, the loss (prediction - target)² for each row
    # rank 0 has two pieces: the input [[1.]] with the target [[1.]], and [[1.]] with [[2.]]: losses 1; 0
    # rank 1 has one piece: the inputs [[2.], [3.]] with the targets [[3.], [2.]]: losses 1 and 16
    accumulated_step(model, loss_fn, optimizer, pieces)  # 4.5 on both ranks: (1 + 0 + 1 + 16) / 4
    # gradient (2·1·1 + 2·0·1 + 2·1·2 + 2·4·3) / 4 = 7.5 on both, so the weight is 2.0 - 0.1 · 7.5 = 1.25

Rules:
- The caller has joined the ranks to the default process group (gloo), wrapped the model (DDP with its default
  options; every parameter counts in the loss), and given each rank an optimizer over all of its parameters,
  in one group or in more. Every rank calls accumulated_step, with pieces of its own. There may be any number
  of ranks, also one.
- Each rank has at least one piece, and perhaps another number of them than the other ranks. Pieces differ in
  size; some may have 0 rows (the mean over which is NaN), but not all pieces of all ranks. All of this may
  change from step to step.
- The loss of the batch is the mean of `loss_fn(model(inputs), targets)` over all rows of all pieces of all
  ranks. Loss and gradients are those of one process that has the whole batch.
- Model and loss_fn run once on each piece, also on one without rows, in order: forward and backward of one
  piece, then of the next, so that the graphs of two are never in memory at once.
- A step costs the messages that *one* forward and backward of DDP send, however many pieces there are, and at
  most two collectives more, into which a rank hands at most 128 bytes together.
- `optimizer.step` runs once, at the end. Gradients that lie in `.grad` beforehand have no influence.
  Afterwards every rank has in `.grad` what the optimizer was given: the gradient of the whole batch. The
  modes of the model (train or eval) and the pieces stay as they are.
- If loss_fn raises (on every rank; perhaps a KeyboardInterrupt), the exception comes out, and the model is as
  ready to synchronise as before: later backwards outside of accumulated_step do it.
- The result is the loss of the batch before the update: a Python float, the same on every rank.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext

import torch
import torch.distributed as dist
from jaxtyping import Float, Shaped
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel


def accumulated_step(
    model: DistributedDataParallel,
    loss_fn: Callable[[Tensor, Tensor], Float[Tensor, " rows"]],
    optimizer: torch.optim.Optimizer,
    pieces: Sequence[tuple[Shaped[Tensor, "rows *features"], Shaped[Tensor, "rows *labels"]]],
) -> float:
    """Move all ranks' copies of the model by one step on the union of their pieces.

    Args:
        model: the model, wrapped by the caller.
        loss_fn: maps predictions and targets, in this order, to one loss for each row, (rows,).
        optimizer: holds the parameters of this rank's copy.
        pieces: this rank's inputs (floating or integers) and targets, a list of at least one pair.

    Returns:
        The mean loss over all rows, before the update.
    """
    optimizer.zero_grad()
    mine = torch.zeros(2, dtype=torch.float64)  # sum of losses, number of rows
    for number, (inputs, targets) in enumerate(pieces, start=1):
        is_last = number == len(pieces)
        # DDP decides in the forward whether the backward will synchronise: it belongs inside as well
        with nullcontext() if is_last else model.no_sync():
            losses = loss_fn(model(inputs), targets)  # (rows,)
            losses.sum().backward()
        mine += torch.tensor([losses.sum().item(), len(losses)], dtype=torch.float64)
    dist.all_reduce(mine)
    loss, rows = mine.tolist()
    for p in model.parameters():
        p.grad *= dist.get_world_size() / rows  # DDP has divided by the number of ranks
    optimizer.step()
    return loss / rows
