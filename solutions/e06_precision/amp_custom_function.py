from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.amp import custom_bwd, custom_fwd


class _ReversedLinear(torch.autograd.Function):
    """x @ weight.T, whose gradient for x is reversed."""

    @staticmethod
    @custom_fwd(device_type="cpu")
    def forward(ctx: Any, x: Tensor, weight: Tensor, strength: float) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.strength = strength
        return x @ weight.T

    @staticmethod
    @custom_bwd(device_type="cpu")
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
        x, weight = ctx.saved_tensors
        return -ctx.strength * (grad @ weight), grad.T @ x, None


class _Energy(torch.autograd.Function):
    """The sum of squares along the last dimension."""

    @staticmethod
    @custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return (x * x).sum(-1)

    @staticmethod
    @custom_bwd(device_type="cpu")
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return 2 * grad[..., None] * x


def reversed_linear(
    x: Float[Tensor, "rows inputs"], weight: Float[Tensor, "outputs inputs"], strength: float = 1.0
) -> Float[Tensor, "rows outputs"]:
    return _ReversedLinear.apply(x, weight, strength)


def energy(x: Float[Tensor, "*shape features"]) -> Float[Tensor, "*shape"]:
    return _Energy.apply(x)
