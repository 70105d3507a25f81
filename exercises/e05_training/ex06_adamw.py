"""AdamW: Adam with a weight decay that does not pass through the moments.

Each parameter p with the gradient g moves so, at its t-th step (t = 1, 2, …):

    p ← p · (1 - lr · weight_decay)                        # the decay, apart from the gradient
    m ← β₁ · m + (1 - β₁) · g                              # the moments begin at zero
    v ← β₂ · v + (1 - β₂) · g²
    p ← p - lr · (m / (1 - β₁ᵗ)) / (√(v / (1 - β₂ᵗ)) + eps)

    p = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    optimizer = AdamW([p], lr=0.1, weight_decay=0.5)
    p.grad = torch.tensor([4.0, 0.0])
    optimizer.step()       # [1, -2] · 0.95 - 0.1 · [4 / √16, 0] = [0.85, -1.9]

Rules:
- It is written out: nothing of torch's own Adam and AdamW runs, in whatever form, nor their fused kernels.
- A parameter whose `.grad` is None at a step stays as it is: no decay, no moments, and t does not count on. A
  gradient of zero is a gradient: p decays, and its moments carry it on.
- t is the number of steps that this parameter took part in. One that is added later, by add_param_group, or
  gets its first gradient later, begins at t = 1. 1 - βᵗ is computed in double precision, as Python does.
- lr, betas, eps and weight_decay are those of the parameter's group at the time of the step: groups may
  differ, and schedulers change them. Groups may leave them out, and the arguments are their defaults.
- m, v and t are kept in `self.state[p]`, so that state_dict, torch.save and load_state_dict carry them: a run
  that goes on from a loaded state dict goes on as if it had not stopped. m and v have p's dtype (float32,
  float64 or bfloat16), shape and device, and memory of their own. A p without gradients has no state yet, or
  an empty one. (load_state_dict casts every tensor of a state to p's dtype and device, except one named
  "step".)
- A step writes into the memory of p and its state, and to nothing else: `.grad` is not changed. p remains a
  leaf, and no graph is recorded, even where `.grad` carries one. p may have any shape, strides and size.
- step(closure) first calls closure once, with gradients on even inside of `torch.no_grad()`, and returns what
  it returns. Gradients and groups count as closure leaves them. Without a closure it returns None.
- Gradients of any size are used as they are, not clipped or filtered: where one is NaN, p becomes NaN.
- On a device a step makes the host wait for nothing, and copies nothing.
- ValueError where lr, eps or weight_decay is below zero, or one of betas is not in [0, 1). Zero is fine.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor


class AdamW(torch.optim.Optimizer):
    """Adam with decoupled weight decay.

    Args:
        params: parameters, or dicts that describe groups of them.
        lr: the learning rate.
        betas: how much of the moments stays at each step, for the first and the second.
        eps: added to the root of the second moment.
        weight_decay: the share of a parameter, times lr, that goes at each step.

    Raises:
        ValueError: an argument is out of its range.
    """

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
        """Move each parameter that has a gradient.

        Args:
            closure: computes the loss and the gradients anew.

        Returns:
            What closure returns, or None without one.
        """
        raise NotImplementedError
