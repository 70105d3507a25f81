"""The logarithm of 0, and its gradient.

A loss compares probabilities `p` with a `target`: minus the sum of target · log p. Where both are 0, log p is
-inf, and 0 · -inf is NaN: loss and gradient are lost. Mend it, so that such a place adds 0 to the loss and
has gradient 0.

    p = torch.tensor([0.0, 0.5], requires_grad=True)
    loss = log_of_zero(p, torch.tensor([0.0, 1.0]))
    # 0.6931; now NaN
    loss.backward()
    p.grad
    # [0., -2.]; now [NaN, -2.]

New here: `p.clamp(min=1e-7)` is p with 1e-7 in place of all smaller numbers.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def log_of_zero(p: Float[Tensor, "classes"], target: Float[Tensor, "classes"]) -> Float[Tensor, ""]:
    return -(target * p.log()).sum()
