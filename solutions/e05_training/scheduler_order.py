from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau


def train(
    model: nn.Module,
    loss_fn: Callable[[Tensor, Tensor], Tensor],
    optimizer: torch.optim.Optimizer,
    batches: Iterable[tuple[Tensor, Tensor]],
    epochs: int,
    by_batch: LRScheduler | None = None,
    by_epoch: LRScheduler | None = None,
) -> list[float]:
    rates = []
    for _ in range(epochs):
        total, rows = 0.0, 0
        for inputs, targets in batches:
            loss = loss_fn(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            rates.append(float(optimizer.param_groups[0]["lr"]))  # that of this step
            optimizer.step()
            if by_batch is not None:
                by_batch.step()
            total, rows = total + loss.item() * len(targets), rows + len(targets)
        if isinstance(by_epoch, ReduceLROnPlateau):
            by_epoch.step(total / rows)
        elif by_epoch is not None:
            by_epoch.step()
    return rates
