from collections.abc import Callable

import torch
from torch import Tensor, nn


def scaled_step(
    model: nn.Module,
    loss_fn: Callable[[Tensor, Tensor], Tensor],
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    inputs: Tensor,
    targets: Tensor,
    max_norm: float = 1.0,
) -> tuple[float, float]:
    optimizer.zero_grad()
    with torch.autocast(inputs.device.type, dtype=torch.float16):
        predictions = model(inputs)
    loss = loss_fn(predictions.float(), targets)
    scaler.scale(loss).backward()  # float16 gradients on the way are scale times as large
    scaler.unscale_(optimizer)  # and notes inf and NaN: clipping cannot hide them now
    params = [p for group in optimizer.param_groups for p in group["params"]]
    norm = nn.utils.clip_grad_norm_(params, max_norm)
    scaler.step(optimizer)  # knows that it need not unscale again
    scaler.update()
    return loss.item(), norm.item()
