"""AdamW: Adam with a weight decay that does not pass through the moments.

Write the optimizer that most transformers are trained with, on top of `torch.optim.Optimizer`. A parameter p with the
gradient g moves so, at its t-th step (t = 1, 2, …):

    p ← p · (1 - lr · weight_decay)                        # the decay, apart from the gradient
    m ← β₁ · m + (1 - β₁) · g                              # the moments begin at zero
    v ← β₂ · v + (1 - β₂) · g²
    p ← p - lr · (m / (1 - β₁ᵗ)) / (√(v / (1 - β₂ᵗ)) + eps)

    p = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    optimizer = AdamW([p], lr=0.1, weight_decay=0.5)
    p.grad = torch.tensor([4.0, 0.0])
    optimizer.step()       # [1, -2] · 0.95 - 0.1 · [4 / √16, 0] = [0.85, -1.9]

- lr, betas, eps and weight_decay are those of the parameter's group, as they are at this step.
- A parameter whose `.grad` is None stays as it is.
- m, v and t are kept in `self.state[p]`: then a run goes on from a loaded `state_dict`.
- Nothing of torch's own Adam or AdamW runs.

(The paper's decay is not multiplied by lr, and transformers' old AdamW decays after the step: here it is as in torch.)

Fine print:
- eps is added to √(v / (1 - β₂ᵗ)), as in the paper. Added to √v, as in older code, it weighs more in the first steps.
- t counts the steps of this parameter: one that is added later, or has no gradient at first, begins at t = 1.
- `step(closure)` first calls closure, once and with gradients on, even inside `torch.no_grad()`, and returns its result.
- A step writes into p's own memory and leaves `.grad` as it is. m and v have p's dtype.
- ValueError where lr, eps or weight_decay is below zero, or one of betas is not in [0, 1). Zeros are fine.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor


class AdamW(torch.optim.Optimizer):
    """Adam with decoupled weight decay."""

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
    ) -> None:
        raise NotImplementedError

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move each parameter that has a gradient; return what closure returns, or None without one."""
        raise NotImplementedError
