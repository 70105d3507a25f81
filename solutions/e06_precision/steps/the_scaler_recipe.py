import torch
from jaxtyping import Float
from torch import Tensor


def the_scaler_recipe(
    loss: Float[Tensor, ""], optimizer: torch.optim.Optimizer, scaler: torch.amp.GradScaler
) -> float:
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    return scaler.get_scale()
