from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F


class _Through(torch.autograd.Function):
    """The numbers of `values`, and a gradient where `within`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, values: Tensor, within: Tensor) -> Tensor:
        ctx.save_for_backward(within)
        return values.to(x.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        (within,) = ctx.saved_tensors
        return grad * within, None, None


def fake_quantize(
    x: Float[Tensor, "*shape"],
    scale: float | Float[Tensor, "*scales"],
    zero_point: int = 0,
    *,
    low: int = -128,
    high: int = 127,
) -> Float[Tensor, "*shape"]:
    wide = x.detach() if x.dtype == torch.float64 else x.detach().float()
    whole = (wide / scale).round() + zero_point
    values = (whole.clamp(low, high) - zero_point) * scale
    return _Through.apply(x, values, (whole >= low) & (whole <= high))


class QuantLinear(nn.Linear):
    def __init__(self, in_features: int, out_features: int, bias: bool = True, *, bits: int = 8) -> None:
        super().__init__(in_features, out_features, bias)
        self.high = 2 ** (bits - 1) - 1

    def forward(self, x: Float[Tensor, "*batch inputs"]) -> Float[Tensor, "*batch outputs"]:
        largest = self.weight.detach().abs().amax(1, keepdim=True)  # (outputs, 1)
        scale = torch.where(largest > 0, largest / self.high, 1.0)  # rows of zeros
        weight = fake_quantize(self.weight, scale, low=-self.high, high=self.high)
        return F.linear(x, weight, self.bias)
