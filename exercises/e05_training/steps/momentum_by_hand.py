"""What an optimizer does: `momentum_by_hand(p, v, lr, mu)`.

SGD with momentum moves a weight like a rolling ball: the velocity v keeps a part of itself and adds the
gradient; the weight moves against v. Change both in place:

    v becomes mu · v + p.grad
    p becomes p - lr · v        # with the new v

    # p is 1.5 and has the gradient 3.0, v is 2.0
    momentum_by_hand(p, v, lr=0.1, mu=0.9)
    # v is 0.9 · 2 + 3 = 4.8, p is 1.5 - 0.1 · 4.8 = 1.02

New here: `v.mul_(2.0)` and `v.add_(x)` change v itself, as `v *= 2.0` and `v += x` do. p requires a
gradient: move it inside of `torch.no_grad()`.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def momentum_by_hand(p: Float[Tensor, " n"], v: Float[Tensor, " n"], lr: float, mu: float) -> None:
    raise NotImplementedError
