"""An operation of your own, with its backward: Swish.

Swish multiplies x by a gate: y = scale · x · σ(beta · x), where σ is the sigmoid. `beta` is learned, and
tells how sharp the gate is. Written with PyTorch's operations, autograd keeps several tensors of the size of
x for it. Write it as an `autograd.Function` that computes the gate again in backward:

    x = torch.tensor([2., -4.], requires_grad=True)
    beta = torch.tensor(0., requires_grad=True)
    swish(x, beta).sum().backward()             # swish is [1, -2]; x.grad is [0.5, 0.5], beta.grad is 5
    swish(x, beta, scale=10.)                   # [10, -20]

With g = σ(beta x), the derivatives are scale (g + beta x g (1 - g)) by x, and scale x² g (1 - g) by beta.

- `swish` goes through `Swish.apply`. scale is a plain number.
- beta is one number, or one for each feature of x, (batch, features).
- Of tensors, only x and beta are kept for backward.

Fine print:
- If x or beta is changed in place before backward, backward raises a RuntimeError.
- Only gradients that are needed are computed: `ctx.needs_input_grad`.
- Second-order gradients are right: backward is differentiable, too.
- beta may have any shape that broadcasts to that of x.
- The gradient that comes in is not changed.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


class Swish(torch.autograd.Function):
    """scale · x · σ(beta · x), which keeps only its inputs for backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, beta: Tensor, scale: float) -> Tensor:
        """Compute y, and keep what backward needs."""
        raise NotImplementedError

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """One gradient for each argument of forward; None for those that need none."""
        raise NotImplementedError


def swish(
    x: Float[Tensor, "*shape"], beta: Float[Tensor, "..."], scale: float = 1.0
) -> Float[Tensor, "*shape"]:
    """Swish of x, by `Swish.apply`."""
    raise NotImplementedError
