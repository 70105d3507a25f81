"""When a schedule steps: after the optimizer, and once for each batch or each epoch.

`train` takes a step for each batch and returns the learning rates of all steps. Two schedules may lower the
rate: `by_batch` after each batch, `by_epoch` after each epoch.

    optimizer = torch.optim.SGD(model.parameters(), lr=0.8)
    halve = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    train(model, loss_fn, optimizer, two_batches, epochs=3, by_epoch=halve)      # [0.8, 0.8, 0.4, 0.4, 0.2, 0.2]

The code below gives [0.4, 0.2, 0.1, …]. With by_batch, PyTorch warns as well: the first learning rate
was skipped. Mend it.

- Each step is taken with the rate that the schedules have given so far, the first with the optimizer's own.
- After a batch's step by_batch steps once; after an epoch's last batch by_epoch steps once, too.
- What is returned are the rates of the optimizer's first group, as they were at the steps.

Fine print:
- by_epoch may be a ReduceLROnPlateau: its `step` takes the epoch's loss, the mean over the rows of all batches.
- The rates are Python floats, also where lr is a tensor: schedules then write into that tensor.
- No gradient of the batch before counts, and no loss keeps its graph alive.
"""

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler


def train(
    model: nn.Module,
    loss_fn: Callable[[Tensor, Tensor], Tensor],
    optimizer: torch.optim.Optimizer,
    batches: Iterable[tuple[Tensor, Tensor]],
    epochs: int,
    by_batch: LRScheduler | None = None,
    by_epoch: LRScheduler | None = None,
) -> list[float]:
    """Train for some epochs; return the learning rate of each step."""
    rates = []
    for _ in range(epochs):
        for inputs, targets in batches:
            loss = loss_fn(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            if by_batch is not None:
                by_batch.step()
            optimizer.step()
            if by_epoch is not None:
                by_epoch.step()
            rates.append(optimizer.param_groups[0]["lr"])
    return rates
