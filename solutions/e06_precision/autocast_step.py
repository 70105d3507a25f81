from collections.abc import Callable

import torch
from jaxtyping import Shaped
from torch import Tensor, nn


def autocast_step(
    model: nn.Module,
    loss_fn: Callable[[Tensor, Tensor], Tensor],
    optimizer: torch.optim.Optimizer,
    inputs: Shaped[Tensor, "batch *features"],
    targets: Shaped[Tensor, "batch *labels"],
    dtype: torch.dtype = torch.bfloat16,
) -> float:
    if dtype not in (torch.bfloat16, torch.float16):
        raise ValueError(f"dtype must be torch.bfloat16 or torch.float16, not {dtype}")
    with torch.autocast(inputs.device.type, dtype=dtype):
        predictions = model(inputs)  # (batch, *outputs), mostly in dtype
    loss = loss_fn(predictions.float(), targets)  # (), in float32 whatever loss_fn is made of
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
