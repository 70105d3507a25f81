"""An operation of your own, with its backward: a gated activation.

Swish multiplies x by a gate that opens with x: y = scale · x · σ(beta · x), where σ is the sigmoid. `beta`,
learnable, tells how sharp the gate is. Where `keep` is False, y is 0. Written with PyTorch's operations,
autograd stores several tensors of the size of x for it. Write it as an `autograd.Function` that stores
nothing but its inputs:

    x = torch.tensor([2., -4.], requires_grad=True)
    beta = torch.tensor(0., requires_grad=True)
    swish(x, beta).sum().backward()            # swish is [1, -2]; x.grad is [0.5, 0.5], beta.grad is 5
    swish(x, beta, keep=torch.tensor([True, False]), scale=10.)     # [10, 0]

With g = σ(beta x), the derivatives are scale (g + beta x g (1 - g)) by x, and scale x² g (1 - g) by beta.

Rules:
- `swish` goes through `Swish.apply`; what that takes, and in which order, is up to you. `Swish.backward` is
  your own computation.
- For backward only the tensors x, beta and keep are kept, each with `ctx.save_for_backward`: so if one of
  them is changed in place before backward, that raises a RuntimeError. What else it needs is computed again.
- `backward` is itself differentiable: second-order gradients are right.
- Only the gradients that are needed are computed (`ctx.needs_input_grad`): where only x or only beta requires
  one, backward takes fewer operations than where both do. keep and scale have none.
- beta has a shape that broadcasts to that of x, () included; its gradient has the shape of beta.
- Where keep is False, x counts for nothing, even if it is inf or NaN there, or the gradient that comes in is:
  y is 0, and so is the gradient, of first and of second order. Elsewhere x and beta x are at most 1e4 in
  size, and neither y nor the gradients of first order are inf or NaN.
- x and beta are both float32 or both float64, and so are y and the gradients. No input is
  changed, nor is the gradient that comes in.
"""

from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor


class Swish(torch.autograd.Function):
    """scale · x · σ(beta · x), which keeps only its inputs for backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, beta: Tensor, keep: Tensor | None, scale: float) -> Tensor:
        """Compute y, and keep what backward needs."""
        ctx.save_for_backward(x, beta, keep)
        ctx.scale = scale
        return _hide(x * torch.sigmoid(beta * x) * scale, keep)  # (*shape)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """One gradient for each argument of forward; None for those that need none."""
        x, beta, keep = ctx.saved_tensors
        x, grad = _hide(x, keep), _hide(grad, keep) * ctx.scale  # (*shape)
        gate = torch.sigmoid(beta * x)  # (*shape)
        slope = gate * (1 - gate)
        for_x = for_beta = None
        if ctx.needs_input_grad[0]:
            for_x = grad * (gate + beta * x * slope)
        if ctx.needs_input_grad[1]:
            for_beta = (grad * x * x * slope).sum_to_size(beta.shape)
        return for_x, for_beta, None, None


def swish(
    x: Float[Tensor, "*shape"],
    beta: Float[Tensor, "..."],
    keep: Bool[Tensor, "*shape"] | None = None,
    scale: float = 1.0,
) -> Float[Tensor, "*shape"]:
    """Swish of x, by `Swish.apply`.

    Args:
        x: pre-activations.
        beta: sharpness of the gate, of a shape that broadcasts to x.
        keep: which numbers count; None stands for all of them.
        scale: a plain number, which multiplies the result.

    Returns:
        A new tensor of the shape and dtype of x.
    """
    result: Tensor = Swish.apply(x, beta, keep, scale)
    return result


def _hide(x: Tensor, keep: Tensor | None) -> Tensor:
    return x if keep is None else x.masked_fill(~keep, 0.0)
