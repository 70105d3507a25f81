from collections.abc import Callable, Sequence
from typing import Any

import torch
from jaxtyping import Shaped
from torch import Tensor, nn


def accumulated_step(
    model: nn.Module,
    loss_fn: Callable[[Any, Tensor], Tensor],
    optimizer: torch.optim.Optimizer,
    pieces: Sequence[tuple[Shaped[Tensor, "examples *features"], Shaped[Tensor, "examples *labels"]]],
) -> float:
    count = sum(len(targets) for _, targets in pieces)
    if count == 0:
        raise ValueError("there is no example in any piece")
    optimizer.zero_grad()  # once for all pieces, and to None
    total: Any = 0
    for inputs, targets in pieces:
        if len(targets) == 0:
            continue  # its mean would be 0 / 0
        loss = loss_fn(model(inputs), targets) * (len(targets) / count)  # (), the piece's share
        loss.backward()  # adds to .grad, and frees this graph
        total = total + loss.detach()  # with its graph it would hold those of all pieces
    optimizer.step()
    return float(total)
