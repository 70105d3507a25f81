"""Linear layers with weights in int8: a quarter of the bytes, and an error with a bound.

Reading the weights of its linear layers is what a language model takes its time for. Stored as int8 with one scale for
each output feature, they are widened when they are used:

    linear = nn.Linear(2, 2)                     # say [[0.5, -1.27], [25.4, 10.08]] and a bias of 0
    layer = Int8Linear.from_linear(linear)
    layer.weight                                 # int8 [[50, -127], [127, 50]]
    layer.scale                                  # float32 [0.01, 0.2]: the largest of each row / 127
    layer(torch.tensor([[1.0, 1.0]]))            # [[-0.77, 35.4]]: off by 0 and 0.08
    model = quantize_linears(model, skip=["head"])     # in place, all linear layers but model.head

- scale is the largest absolute value of a row / 127, and weight is round(weight / scale). bias is a copy, or None.
- All are buffers: no parameter is left, and the state dict holds the three (or two).
- Int8Linear(in_features, out_features, bias) is a layer to load such a state dict into.
- quantize_linears replaces linear layers at any depth and returns the model; skip names layers as named_modules does.

Fine print:
- A row of zeros has scale 1.0. An empty layer has weight and bias 0, scale 1. Nothing wide is held, nor changed in the
  linear layer; its device, and its mode (train or eval), go over.
- x may be float32, bfloat16 or float16, whatever the linear layer was in. The result has the dtype of x and rounding
  errors of one linear layer in it: widen in float32, so that no scale of 1e-8 vanishes, and no sum overflows.
- x may have any batch dimensions, none and 0 too. Gradients flow to x.
- Only layers whose type is nn.Linear go, no subclass (nn.MultiheadAttention reads the weight of its own). What is below
  a name in skip stays, too. A layer that occurs twice becomes one, or stays if skip holds one of its names.
- If the model itself is an nn.Linear, its Int8Linear is returned.
- ValueError for a weight with NaN or inf, from quantize_linears with the layer's name, and for a name in skip that is no
  layer. Nothing has been replaced then.
"""

from collections.abc import Collection

from jaxtyping import Float, Int8
from torch import Tensor, nn


class Int8Linear(nn.Module):
    """A linear layer whose weight is stored in int8."""

    weight: Int8[Tensor, "out_features in_features"]
    scale: Float[Tensor, "out_features"]
    bias: Float[Tensor, "out_features"] | None

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        super().__init__()
        raise NotImplementedError

    @classmethod
    def from_linear(cls, linear: nn.Linear) -> "Int8Linear":
        """The same layer with its weight in int8."""
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "*batch in_features"]) -> Float[Tensor, "*batch out_features"]:
        """The result of the linear layer, nearly, in the dtype of `x`."""
        raise NotImplementedError


def quantize_linears(model: nn.Module, skip: Collection[str] = ()) -> nn.Module:
    """Replace the linear layers of a model by ones in int8, but for those in `skip`."""
    raise NotImplementedError
