"""Ranks that part ways: a training loop that hangs.

On one process this loop is right. On several it stands still one day, without an error or a line of output:
when there is something to log, when a rank meets a broken record or has no rows to validate on, when a run
ends early. A time-out (here of the tests, else of `init_process_group`) tells no more than who waits where:

    rank 0 waits in all_reduce; rank 1 waits in DDP forward

Collectives are paired by their order alone. Where one rank calls one that another rank skips, they wait for
each other, or, worse, messages of different meaning are added up, and all goes on with wrong numbers.

    # two ranks; the weight is 2.0, the optimizer SGD with lr=0.1, loss_fn the mean squared error
    # batches of rank 0: [[1.]] with the target [[1.]], then [[1.]] with [[nan]]
    # batches of rank 1: [[2.]] with the target [[3.]], then [[1.]] with [[1.]]
    # held_out: no rows on rank 0; [[1.]] with the target [[1.]] on rank 1
    fit(model, loss_fn, optimizer, batches, held_out, epochs=1, patience=1, log=print)   # [0.49] on both
    # losses 1 and 1, gradient (2 + 4) / 2, weight 1.7; the second batch is skipped by both; (1.7 - 1)² = 0.49
    # rank 0 prints 1.0, the average of the losses in the only step that was taken

Repair it, so that any number of ranks does what one process does with the rows of all of them:
- Before, and after: the ranks have joined the default process group (gloo), the model is wrapped in
  DistributedDataParallel (DDP), every rank calls fit with data of its own, and with as many batches as the
  others. In each step the batches of all ranks have equally many rows. `loss_fn` gives the mean over rows.
- Where the loss of a batch is not finite (inf or NaN) on any rank, all ranks skip this step: weights and the
  optimizer stay as they are, and nothing is logged. It is the loss that decides, not the gradients.
- After each other step rank 0, and no other rank, calls `log` with the average of the ranks' losses, a float.
- After each epoch comes the validation: the mean loss over the held-out rows of all ranks together. Ranks
  hold out different numbers of rows; some of them, not all, none.
- The training ends after `epochs` epochs, or once the validation loss has not fallen below its best for
  `patience` (1 or more) epochs in a row, on every rank in the same epoch.
- fit returns the validation losses, a float for each epoch, the same on every rank. The modes of the model
  (train or eval) are as before.
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
    """The average of one number over the ranks."""
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
    """Train on all ranks until the validation loss falls no more.

    Args:
        model: the model, wrapped by the caller.
        loss_fn: maps predictions and targets, in this order, to their mean loss.
        optimizer: holds the parameters of this rank's copy.
        batches: this rank's batches of one epoch, pairs of inputs and targets.
        held_out: this rank's rows for the validation.
        epochs: the most epochs.
        patience: the number of epochs in a row without a new best after which to stop.
        log: takes the training loss of each step, on rank 0.

    Returns:
        The validation loss after each epoch.
    """
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
