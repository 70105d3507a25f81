"""A head that a batch does not use: DDP stops in the second step.

A model has one body, and a head for each of several tasks. A batch is of one task, and only the head of that task takes
part. On one process this training works. On two, nothing is averaged in the first step, and the second one raises:

    RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one. …

Repair `train`.

    # body, head 0 and head 1 multiply by 1, 1 and 2; SGD with lr=0.1; the mean squared error; one step
    # rank 0 has x [[1.]] of task 0, the target [[0.]];  its gradients: body 2, head 0 2
    # rank 1 has x [[1.]] of task 1, the target [[0.]];  its gradients: body 8, head 1 4
    train(model, optimizer, loss_fn, batches)   # [1.0] on rank 0, [4.0] on rank 1
    # means over both ranks: 5, 1, 2; body, head 0 and head 1 multiply by 0.5, 0.9 and 1.8 now

- A gradient is the mean over all ranks. A rank that did not use a head adds 0 to it.
- Each step may use other heads than the one before.
- Every rank returns the losses of its own batches. All have as many batches.

Fine print:
- A head that no rank used in a step stays as it is in that step, also with momentum and weight decay.
- There may be parameters that no task ever uses.
"""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

Batch = tuple[Float[Tensor, "rows features"], int, Float[Tensor, "rows outputs"]]


def train(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss_fn: Callable[[Tensor, Tensor], Float[Tensor, ""]],
    batches: Sequence[Batch],
) -> list[float]:
    """Train model(x, task) on batches of x, task and target; this rank's losses."""
    wrapped = DistributedDataParallel(model)
    losses = []
    for x, task, target in batches:
        loss = loss_fn(wrapped(x, task), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
