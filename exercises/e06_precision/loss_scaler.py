"""A dynamic loss scaler: the largest scale that the gradients bear, found on the way.

In float16 small gradients become 0. So the loss is multiplied by a scale, and the gradients are divided by it before the
step. Too large a scale makes some inf: that step is skipped, and the scale shrinks. After growth_interval good
iterations in a row it grows. Write this without `torch.amp.GradScaler` and its kernels.

    scaler = LossScaler(init_scale=8.0)
    p = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    optimizer = torch.optim.SGD([p], lr=0.5)
    scaler.scale((3 * p).sum()).backward()      # p.grad is [24, 24]
    scaler.step(optimizer)                      # True: p.grad is [3, 3], and p becomes [-0.5, -3.5]
    scaler.update()                             # a good iteration: scaler.get_scale() stays 8.0
    p.grad = torch.tensor([math.inf, 8.0])
    scaler.step(optimizer)                      # False: p stays as it is
    scaler.update()                             # scaler.get_scale() is 4.0

- step calls unscale_, unless the caller has done so already, to clip.
- Where a gradient is inf or NaN, parameters and optimizer state stay; update multiplies by backoff_factor.
- Else update counts; at growth_interval it multiplies by growth_factor and counts anew.
- load_state_dict goes on from a state_dict: scale, count and options.

Fine print:
- step returns whether it was taken. (GradScaler's returns what optimizer.step does.)
- A float16 or bfloat16 loss is scaled in float32: 100 · 1024 is too much for float16.
- Gradients such as [3e38, 3e38] are finite, though their sum is not.
- Gradients are divided in place; None stays None. A float16 gradient raises ValueError: it would vanish again.
- Several optimizers: each skips by its own gradients; update ends one iteration of all.
- RuntimeError for a second unscale_ or step of an optimizer before update, and for unscale_ after step.
- state_dict holds plain numbers under GradScaler's keys: "scale", "growth_factor", "backoff_factor", "growth_interval",
  "_growth_tracker" (the count). Each class loads what the other saved.
- On a device the host waits once at most for unscale_, step and update together.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


class LossScaler:
    """Scales losses, takes or skips steps, and adapts the scale."""

    def __init__(
        self,
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
    ) -> None:
        raise NotImplementedError

    def get_scale(self) -> float:
        """The scale as a Python float."""
        raise NotImplementedError

    def scale(self, loss: Float[Tensor, ""]) -> Float[Tensor, ""]:
        """The loss times the scale, with its graph."""
        raise NotImplementedError

    def unscale_(self, optimizer: torch.optim.Optimizer) -> None:
        """Divide the gradients of the optimizer's parameters by the scale, and note whether one is inf or NaN."""
        raise NotImplementedError

    def step(self, optimizer: torch.optim.Optimizer) -> bool:
        """Take a step with unscaled gradients, unless one of them is inf or NaN; whether it was taken."""
        raise NotImplementedError

    def update(self) -> None:
        """Adapt the scale, and begin the next iteration."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """The scale, the options and the count of good iterations."""
        raise NotImplementedError

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from what state_dict returned."""
        raise NotImplementedError
