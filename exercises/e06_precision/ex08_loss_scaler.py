"""A dynamic loss scaler: the largest scale that the gradients bear, found on the way.

In float16, gradients below 6e-8 vanish. A loss that is multiplied by a scale lifts them, and before the step
they are divided by it. Too large a scale makes them overflow: then the step is skipped and the scale backs
off. After enough good iterations it grows again.

    scaler = LossScaler(init_scale=8.0)
    p = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    optimizer = torch.optim.SGD([p], lr=0.5)
    scaler.scale((3 * p).sum()).backward()      # p.grad is [24, 24]
    scaler.step(optimizer)                      # True: p.grad is [3, 3], and p becomes [-0.5, -3.5]
    scaler.update()                             # a good iteration; scaler.get_scale() stays 8.0
    p.grad = torch.tensor([math.inf, 8.0])
    scaler.step(optimizer)                      # False: p stays as it is
    scaler.update()                             # scaler.get_scale() is 4.0

Rules:
- It is written out: neither torch.amp.GradScaler nor its kernels (`torch._amp_…`) run.
- scale(loss) is loss · scale, with its graph, in float32, or float64 for a float64 loss: a float16 loss of
  100 and a scale of 1024 make 102400.
- unscale_(optimizer) divides each gradient of its parameters by the scale, in all groups, in place, and notes
  whether one held inf or NaN. Gradients of None stay None. The others are float32, float64 or bfloat16, of
  any shape and size, also 0; a float16 one raises ValueError before any is divided: it would vanish
  again.
- inf and NaN count, and nothing else: gradients of [3e38, 3e38] are finite.
- step(optimizer) calls unscale_ first, unless the caller has done so since the last update, to clip. Then it
  calls `optimizer.step()` once and returns True; where inf or NaN was noted for this optimizer it leaves
  parameters and state alone, and returns False. What unscale_ noted counts, whatever became of the gradients.
- update() ends an iteration, in which one optimizer or several took part. If inf or NaN was noted for one of
  them, the scale is multiplied by backoff_factor, without a lower bound, and the count of good iterations
  begins anew at 0. Else the count goes up by 1. At growth_interval it begins anew, and the scale is
  multiplied by growth_factor, unless float32 would then hold inf.
- In an iteration, unscale_ and step may be called once for each optimizer, unscale_ not after step: else
  RuntimeError, and no gradient changes.
- state_dict() has the keys of GradScaler: "scale", "growth_factor", "backoff_factor" as Python floats,
  "growth_interval", "_growth_tracker" (the count) as ints. load_state_dict takes over all five. Each of
  the two classes loads what the other saved. A dict once made does not change.
- On a device the host waits once at most for the three calls unscale_, step, update with one optimizer.
"""

from typing import Any

import torch
from torch import Tensor


class LossScaler:
    """Scales losses, takes or skips steps, and adapts the scale.

    Args:
        init_scale: the first scale, above 0 and finite.
        growth_factor: what the scale is multiplied by after growth_interval good iterations, above 1.
        backoff_factor: what it is multiplied by after inf or NaN, between 0 and 1, without these two.
        growth_interval: how many good iterations in a row make it grow, 1 or more.

    Raises:
        ValueError: an argument is out of its range, as NaN always is.
    """

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

    def scale(self, loss: Tensor) -> Tensor:
        """The loss, which has no dimensions, times the scale."""
        raise NotImplementedError

    def unscale_(self, optimizer: torch.optim.Optimizer) -> None:
        """Divide the gradients by the scale, and note whether one is inf or NaN.

        Raises:
            RuntimeError: this optimizer was unscaled or stepped since the last update.
            ValueError: a gradient is float16.
        """
        raise NotImplementedError

    def step(self, optimizer: torch.optim.Optimizer) -> bool:
        """Take a step with unscaled gradients, unless one of them is inf or NaN.

        Returns:
            Whether the step was taken.

        Raises:
            RuntimeError: this optimizer was stepped since the last update.
            ValueError: a gradient is float16.
        """
        raise NotImplementedError

    def update(self) -> None:
        """Adapt the scale, and begin the next iteration."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """The scale, the options and the count of good iterations, as plain numbers."""
        raise NotImplementedError

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from what state_dict returned."""
        raise NotImplementedError
