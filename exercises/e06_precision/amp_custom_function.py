"""Functions of your own, under autocast.

A colleague trains with reversed gradients (Ganin and Lempitsky 2015) and an energy penalty, each an `autograd.Function`. In
float32 both are right. Autocast does not look into a Function's backward, and nobody told it that squares overflow float16:

    x, weight = torch.randn(2, 3, requires_grad=True), torch.randn(4, 3, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = reversed_linear(x, weight, 0.5)
    y.sum().backward()                    # RuntimeError: expected m1 and m2 to have the same dtype

    with torch.autocast("cpu", dtype=torch.float16):
        energy(torch.tensor([300.0, 400.0]).half())      # inf; should be 250000

Repair them:

- In a region `reversed_linear` multiplies in the region's dtype, backward too, wherever backward is called.
- x's gradient is that of x @ weight.T times -strength, weight's is not reversed. Both have the dtypes of x and weight.
- In a region `energy` computes in float32, backward too. So is its result; the gradient has x's dtype.
- Outside of a region nothing changes.

Fine print:
- float64 stays float64, in a region too.
- What backward keeps can't be changed unseen: x changed in place between raises an error, in float32 outside of a region.
- The CPU's autocast is enough.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


class _ReversedLinear(torch.autograd.Function):
    """x @ weight.T, whose gradient for x is reversed."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, strength: float) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.strength = strength
        return x @ weight.T

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
        x, weight = ctx.saved_tensors
        return -ctx.strength * (grad @ weight), grad.T @ x, None


class _Energy(torch.autograd.Function):
    """The sum of squares along the last dimension."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return (x * x).sum(-1)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return 2 * grad[..., None] * x


def reversed_linear(
    x: Float[Tensor, "rows inputs"], weight: Float[Tensor, "outputs inputs"], strength: float = 1.0
) -> Float[Tensor, "rows outputs"]:
    """x @ weight.T; the gradient that x gets is multiplied by -strength."""
    return _ReversedLinear.apply(x, weight, strength)


def energy(x: Float[Tensor, "*shape features"]) -> Float[Tensor, "*shape"]:
    """The sum of squares along the last dimension, in a region in float32."""
    return _Energy.apply(x)
