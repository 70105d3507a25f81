"""Linear layers with weights in int8: a quarter of the bytes.

A language model mostly waits for its weights. Store them as int8, with one scale for each output feature, and widen
them when used:

    linear = nn.Linear(2, 2)                     # say [[0.5, -1.27], [25.4, 10.08]] and a bias of 0
    layer = Int8Linear.from_linear(linear)
    layer.weight                                 # int8 [[50, -127], [127, 50]]
    layer.scale                                  # float32 [0.01, 0.2]: the largest of each row / 127
    layer(torch.tensor([[1.0, 1.0]]))            # [[-0.77, 35.4]]: off by 0 and 0.08
    model = quantize_linears(model, skip=["head"])     # in place, all linear layers but model.head

- scale is the largest absolute value of a row / 127, weight is round(weight / scale), bias a copy or None.
- All are buffers: no parameter is left, and the state dict holds them.
- Int8Linear(in_features, out_features, bias) is a layer to load such a state dict into.
- quantize_linears replaces linear layers at any depth and returns the model; skip names layers as named_modules does.

Fine print:
- A row of zeros has scale 1.0.
- x may be in 16 bits, whatever the linear layer was; the result has its dtype. Widen in float32: in float16 a scale of
  1e-8 vanishes, and sums of integers overflow.
- x may have any batch dimensions, or none. Gradients flow to x.
- Nothing wide is held between calls. Device and mode are those of the linear layer.
- Subclasses of nn.Linear stay (nn.MultiheadAttention reads its weight), and so does what is below a name in skip. A
  layer that occurs twice becomes one.
- ValueError for NaN or inf in a weight and for unknown names in skip; then nothing has been replaced.
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
