from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, beta: Tensor, scale: float) -> Tensor:
        ctx.save_for_backward(x, beta)
        ctx.scale = scale
        return x * torch.sigmoid(beta * x) * scale  # (*shape)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, beta = ctx.saved_tensors
        gate = torch.sigmoid(beta * x)  # (*shape)
        slope = gate * (1 - gate)
        for_x = for_beta = None
        if ctx.needs_input_grad[0]:
            for_x = grad * ctx.scale * (gate + beta * x * slope)
        if ctx.needs_input_grad[1]:
            for_beta = (grad * ctx.scale * x * x * slope).sum_to_size(beta.shape)
        return for_x, for_beta, None


def swish(
    x: Float[Tensor, "*shape"], beta: Float[Tensor, "..."], scale: float = 1.0
) -> Float[Tensor, "*shape"]:
    result: Tensor = Swish.apply(x, beta, scale)
    return result
