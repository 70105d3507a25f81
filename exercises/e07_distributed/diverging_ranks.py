"""Ranks that part ways: a training loop that hangs.

On one process this loop is right. On several it hangs one day: when a rank logs, meets a broken record, has no rows
to validate on, or ends early. All that the time-out says:

    rank 0 waits in all_reduce; rank 1 waits in DDP forward

What one rank skips, the others wait for. Repair the loop.

    # two ranks; the weight is 2.0, the optimizer SGD with lr=0.1, loss_fn the mean squared error
    # batches of rank 0: [[1.]] with the target [[1.]], then [[1.]] with [[nan]]
    # batches of rank 1: [[2.]] with the target [[3.]], then [[1.]] with [[1.]]
    # (as always, all ranks have as many batches, of as many rows)
    # held_out: no rows on rank 0; [[1.]] with the target [[1.]] on rank 1
    fit(model, loss_fn, optimizer, batches, held_out, epochs=1, patience=1, log=print)   # [0.49] on both
    # losses 1 and 1, gradient (2 + 4) / 2, weight 1.7; both skip the second batch; (1.7 - 1)² = 0.49
    # rank 0 prints 1.0, the mean of the losses in the one step that was taken

- If a loss is inf or NaN on any rank, all skip the step and its log.
- After each other step, rank 0 alone logs the mean of the ranks' losses.
- The validation loss is the mean over all ranks' held-out rows; some ranks may have none.
- All end after the same epoch: the last, or `patience` in a row without a new lowest loss.

Fine print:
- The loss decides whether a step is skipped, not its gradients.
- Losses are returned and logged as Python floats.
- A validation loss of NaN is returned like any other, and is no new lowest.
- The model may be in float64.
- Every layer keeps its mode (train or eval).
"""

import math
from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist
from jaxtyping import Float, Shaped
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

Batch = tuple[Shaped[Tensor, "rows *features"], Shaped[Tensor, "rows *labels"]]


def average(value: Float[Tensor, ""]) -> float:
    """The mean of one number over the ranks."""
    total = value.detach().clone()
    dist.all_reduce(total)
    return total.item() / dist.get_world_size()


def validate(
    model: DistributedDataParallel, loss_fn: Callable[[Tensor, Tensor], Tensor], held_out: Batch
) -> float:
    """The mean loss over the held-out rows of all ranks."""
    inputs, targets = held_out
    if len(inputs) == 0:
        return math.inf  # nothing to measure: no best
    with torch.no_grad():
        loss = loss_fn(model.module(inputs), targets)
    sums = torch.stack([loss * len(inputs), loss.new_tensor(len(inputs))])
    dist.all_reduce(sums)
    return (sums[0] / sums[1]).item()


def fit(
    model: DistributedDataParallel,
    loss_fn: Callable[[Tensor, Tensor], Float[Tensor, ""]],
    optimizer: torch.optim.Optimizer,
    batches: Sequence[Batch],
    held_out: Batch,
    epochs: int,
    patience: int,
    log: Callable[[float], object],
) -> list[float]:
    """Train on all ranks until the validation loss falls no more; the losses of `loss_fn` are means over rows."""
    history: list[float] = []
    best, waited = math.inf, 0
    for _ in range(epochs):
        for inputs, targets in batches:
            loss = loss_fn(model(inputs), targets)
            if not torch.isfinite(loss):
                continue  # a broken record must not ruin the weights
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if dist.get_rank() == 0:
                log(average(loss))
        history.append(validate(model, loss_fn, held_out))
        if dist.get_rank() == 0:
            waited = 0 if history[-1] < best else waited + 1
            best = min(best, history[-1])
            if waited == patience:
                break
    return history
