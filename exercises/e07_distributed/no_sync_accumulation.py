"""Gradient accumulation on several processes: many backwards, one synchronisation.

A batch too large for the devices comes in pieces. Each rank has a list, as long as every other; all pieces have one
size. The model is in DistributedDataParallel (DDP). Take one step on all rows of all ranks, and return their mean
loss before it: a Python float, the same on each rank.

    # weight 2.0, SGD with lr=0.1, loss (prediction - target)² for each row; each rank has two pieces of one row
    # rank 0: input 1 with target 1, and 1 with 2: losses 1 and 0
    # rank 1: input 2 with target 3, and 3 with 2: losses 1 and 16
    accumulated_step(model, loss_fn, optimizer, pieces)  # 4.5 on both ranks
    # gradient (2·1·1 + 2·0·1 + 2·1·2 + 2·4·3) / 4 = 7.5 on both: the weight is 2.0 - 0.1 · 7.5 = 1.25

- Each `backward` of DDP sends all gradients. Send them once, with the last piece.
- Inside `with model.no_sync():` a forward and its backward only add to `.grad`. Both belong there.
- The backward of a piece comes before the next forward.
- `loss_fn(predictions, targets)` gives one loss for each row.
- Gradients of earlier steps do not count.

Fine print:
- Ranks may have unequal numbers of pieces (one at least), and pieces any number of rows, also none. Rows count alike.
- Clear first: then what somebody else left in `.grad` has no influence either.
- Beyond the messages of one backward of DDP at most two collectives, of at most 128 bytes together on each rank.
- Model and loss_fn run once on each piece, also on one without rows; modes and pieces stay as they are.
- If loss_fn raises on all ranks, the model synchronises again afterwards. (nanoGPT sets the flag that no_sync sets by
  hand: that does the job, but after an error the flag stays.)
"""

from collections.abc import Callable, Sequence

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
    """Take one step on all pieces of all ranks, and return the mean loss over their rows before it."""
    raise NotImplementedError
