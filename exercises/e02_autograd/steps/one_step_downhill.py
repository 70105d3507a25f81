"""One step downhill: change w under `torch.no_grad`.

w requires a gradient, and `w.grad` holds one. To make a loss smaller, take `rate * w.grad` away from w. Change
w itself; return nothing.

    w = torch.tensor([1.0, 2.0], requires_grad=True)
    (w ** 2).sum().backward()
    # w.grad is [2., 4.]
    one_step_downhill(w, 0.1)
    w
    # tensor([0.8, 1.6], requires_grad=True)

New here: `w -= d` changes w in place, while `w = w - d` makes a new tensor. A tensor that requires a gradient
may be changed in place only under `with torch.no_grad():`.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def one_step_downhill(w: Float[Tensor, "n"], rate: float) -> None:
    raise NotImplementedError
