"""SGD: momentum, Nesterov and weight decay in one optimizer.

Write the optimizer that most image models were trained with, on top of `torch.optim.Optimizer`. A parameter p with the
gradient g moves so:

    g ← g + weight_decay · p
    v ← momentum · v + g                # the velocity, zero before the first step
    p ← p - lr · v                      # with nesterov: p ← p - lr · (g + momentum · v)

    p = torch.nn.Parameter(torch.tensor([2.0]))
    optimizer = SGD([p], lr=0.1, momentum=0.5, weight_decay=0.5)
    p.grad = torch.tensor([3.0])
    optimizer.step()       # g = 3 + 0.5 · 2 = 4, v = 4, p = 2 - 0.4 = 1.6
    p.grad = torch.tensor([3.0])
    optimizer.step()       # g = 3.8, v = 0.5 · 4 + 3.8 = 5.8, p = 1.02

- The options are those of the parameter's group, as they are at this step.
- A parameter whose `.grad` is None stays as it is, and so does its velocity.
- v is kept in `self.state[p]`: then a run goes on from a loaded `state_dict`.
- Nothing of torch's own SGD runs.

Fine print:
- `step(closure)` first calls closure, once and with gradients on, even inside `torch.no_grad()`, and returns its result.
- A step writes into p's own memory and leaves `.grad` as it is, also when momentum or weight_decay is 0.
- v has memory of its own: what is later written into `.grad` (by `zero_grad(set_to_none=False)`) doesn't change it.
- Without momentum no velocity is kept: it would take as much memory as the model.
- ValueError where lr, momentum or weight_decay is below zero, and for nesterov without momentum. Zeros are fine.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor


class SGD(torch.optim.Optimizer):
    """Gradient descent with momentum."""

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-3,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        raise NotImplementedError

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move each parameter that has a gradient; return what closure returns, or None without one."""
        raise NotImplementedError
