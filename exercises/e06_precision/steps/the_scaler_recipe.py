"""The recipe of a GradScaler.

In float16 small gradients become 0. So the loss is multiplied by a scale before backward, and the gradients
are divided by it before the step. Make one step, and return the scale after update (often unchanged). `.grad`
is empty: no zero_grad is needed.

    scaler = torch.amp.GradScaler("cuda", init_scale=1024.0)     # or "cpu"
    the_scaler_recipe(loss, optimizer, scaler)
    # 1024.0; the optimizer has made its step

New here: `scaler.scale(loss)` is the scaled loss, for `.backward()`. Then `scaler.step(optimizer)` unscales,
and steps unless gradients are infinite; then `scaler.update()` adapts the scale. `scaler.get_scale()` returns
it.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def the_scaler_recipe(
    loss: Float[Tensor, ""], optimizer: torch.optim.Optimizer, scaler: torch.amp.GradScaler
) -> float:
    raise NotImplementedError
