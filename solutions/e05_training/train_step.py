from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Shaped
from torch import Tensor, nn


def train_step(
    model: nn.Module,
    loss_fn: Callable[[Any, Tensor], Tensor],
    optimizer: torch.optim.Optimizer,
    inputs: Shaped[Tensor, "batch *features"],
    targets: Shaped[Tensor, "batch *labels"],
) -> float:
    loss = loss_fn(model(inputs), targets)  # ()
    optimizer.zero_grad()  # to None, so that what gets no gradient stays where it is
    loss.backward()
    optimizer.step()
    return loss.item()
