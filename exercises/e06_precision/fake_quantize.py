"""Fake quantization: train a network for the int8 that it will run in.

A network that is quantized after training is surprised by its rounded weights. In quantization-aware training the forward
pass rounds already, in floats, and gradients pass as if it did not. (Jacob et al. 2018, section 3.)

    q = clamp(round(x / scale) + zero_point, low, high)         # whole numbers
    fake_quantize(x) = (q - zero_point) * scale

    x = torch.tensor([0.26, -0.7, 9.0], requires_grad=True)
    fake_quantize(x, 0.1, low=-8, high=7)                       # [0.3, -0.7, 0.7]; derivatives [1, 1, 0]

- The derivative by x is 1 where round(x / scale) + zero_point lies from low to high, 0 beyond.
- `QuantLinear` is an nn.Linear with fake-quantized weight. Each row has a scale of its own, its largest absolute value /
  (2 ** (bits - 1) - 1), zero_point 0.
- The scale is a constant for gradients: the weight's is that of an ordinary layer.

Fine print:
- Halves are rounded as torch.round does, and zero_point is added after that. Where the rounded number is low or high itself,
  the gradient passes.
- fake_quantize has x's dtype; half precision is fake-quantized in float32. x stays as it is.
- A row of zeros stays zero, and has a gradient without NaN.
- Bias is as in nn.Linear, also bias=False.
- On another device nothing is copied to or from the CPU.
"""

from jaxtyping import Float
from torch import Tensor, nn


def fake_quantize(
    x: Float[Tensor, "*shape"],
    scale: float | Float[Tensor, "*scales"],
    zero_point: int = 0,
    *,
    low: int = -128,
    high: int = 127,
) -> Float[Tensor, "*shape"]:
    """x rounded to what whole numbers from low to high can tell; backward passes gradients within them."""
    raise NotImplementedError


class QuantLinear(nn.Linear):
    """A linear layer whose weight is fake-quantized to `bits` in each call, row by row."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True, *, bits: int = 8) -> None:
        super().__init__(in_features, out_features, bias)
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "*batch inputs"]) -> Float[Tensor, "*batch outputs"]:
        raise NotImplementedError
