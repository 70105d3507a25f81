from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn


def train_epoch(
    model: nn.Module,
    loss_fn: Callable[[Tensor, Tensor], Tensor],
    optimizer: torch.optim.Optimizer,
    batches: Iterable[tuple[Tensor, Tensor]],
    on_gradients: Callable[[], object] | None = None,
) -> list[float]:
    losses = []
    for inputs, targets in batches:
        loss = loss_fn(model(inputs), targets)
        optimizer.zero_grad()  # before the backward, and to None: what gets no gradient stays where it is
        loss.backward()
        if on_gradients is not None:
            on_gradients()
        optimizer.step()
        losses.append(loss.item())
    return losses
