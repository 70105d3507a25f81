from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

LossFn = Callable[[Tensor, Tensor], Tensor]
Batches = Iterable[tuple[Tensor, Tensor]]


def fit(
    model: nn.Module,
    loss_fn: LossFn,
    optimizer: torch.optim.Optimizer,
    train_batches: Batches,
    val_batches: Batches,
    epochs: int,
) -> list[float]:
    model.eval()
    history = [_mean_loss(model, loss_fn, val_batches)]
    for _ in range(epochs):
        model.train()  # again in each epoch: the validation has left evaluation mode behind
        for inputs, targets in train_batches:
            optimizer.zero_grad()
            loss_fn(model(inputs), targets).backward()
            optimizer.step()
        model.eval()
        history.append(_mean_loss(model, loss_fn, val_batches))
    return history


@torch.no_grad()
def _mean_loss(model: nn.Module, loss_fn: LossFn, batches: Batches) -> float:
    """The mean loss over all examples."""
    total, count = 0.0, 0
    for inputs, targets in batches:
        total += loss_fn(model(inputs), targets).item() * len(targets)
        count += len(targets)
    return total / count
