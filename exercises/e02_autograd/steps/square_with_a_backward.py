"""An operation with its own backward: `torch.autograd.Function`.

Square x as if PyTorch did not know how: `forward` computes `x * x`. `backward` is given `grad`, the gradient
of the final loss for the result of forward, and returns that for x: by the chain rule, `grad` times the slope
`2 * x`.

    x = torch.tensor([3.0, -1.0], requires_grad=True)
    y = square(x)
    # tensor([9., 1.]), by Square.apply(x)
    (10 * y).sum().backward()
    # grad is [10., 10.]
    x.grad
    # tensor([ 60., -20.])

New here: `ctx` is an object that PyTorch hands to forward and backward, to carry things over.
`ctx.save_for_backward(x)` in forward keeps x; `(x,) = ctx.saved_tensors` in backward gets it back.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        raise NotImplementedError

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        raise NotImplementedError


def square(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    return Square.apply(x)
