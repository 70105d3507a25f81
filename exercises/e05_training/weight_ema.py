"""The average of the weights (EMA): smoother than any of them.

The weights of a run jitter around a good place. Their moving average lies nearer to it, and diffusion models are sampled
from nothing else. (Karras et al. 2024 on its length; the warm-up is that of TensorFlow and diffusers.)

    model = nn.Linear(1, 1, bias=False)        # weight 0
    ema = WeightEMA(model, decay=0.5)          # the average begins as a copy: 0
    # a step of training makes the weight 11
    ema.update()         # t = 1: d = min(0.5, 2 / 11) = 2/11, the average is d · 0 + (1 - d) · 11 = 9
    with ema.swapped():
        model(x)         # with the average, 9
    # and with 11 again

- `update()` comes after each step. At its t-th call, t = 1, 2, …, with d = min(decay, (1 + t) / (10 + t)), each
  parameter's average becomes d · average + (1 - d) · parameter.
- Buffers (the statistics of a batch norm, counters) are copied, not averaged.
- Within `swapped()` the model has the averages and the buffers of the last update.

Fine print:
- After `swapped()` the model's own weights and buffers are back, bit for bit, also after an error. All tensors are
  the same objects as before and in the same memory: the optimizer holds them.
- Averages are kept in float32 where the parameters are in half precision: there a step of 1 - d would be rounded away.
- `state_dict()` is what torch.save and torch.load with weights_only=True can carry. A new WeightEMA goes on from
  `load_state_dict(state)`, t included, with a copy: two runs that begin with one state do not change each other.
- Nothing of the model changes in `update()`, and no graph is made.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn


class WeightEMA:
    def __init__(self, model: nn.Module, decay: float = 0.999) -> None:
        raise NotImplementedError

    def update(self) -> None:
        """Take the model's weights, as they are now, into the averages."""
        raise NotImplementedError

    @contextmanager
    def swapped(self) -> Iterator[None]:
        """Within it, the model computes with the averages."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        raise NotImplementedError

    def load_state_dict(self, state: dict[str, Any]) -> None:
        raise NotImplementedError
