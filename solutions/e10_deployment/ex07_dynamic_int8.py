"""Linear layers with weights in int8: a quarter of the bytes, and an error with a bound.

Nearly all bytes of a language model are weights of linear layers, and reading them is what takes the time.
Stored as int8 with one scale for each output feature, they are widened when they are used:

    linear = nn.Linear(2, 2)                     # say [[0.5, -1.27], [25.4, 10.08]] and a bias of 0
    layer = Int8Linear.from_linear(linear)
    layer.weight                                 # int8 [[50, -127], [127, 50]]
    layer.scale                                  # float32 [0.01, 0.2]: the largest of each row / 127
    layer(torch.tensor([[1.0, 1.0]]))            # [[-0.77, 35.4]]: off by 0 and 0.08

    model = quantize_linears(model, skip=["head"])     # in place, all but model.head
    torch.save(model.state_dict(), path)               # about a quarter as large as before

Rules:
- scale is the largest absolute value of a row / 127, (out_features,) in float32, or 1.0 for a row of zeros;
  weight is round(weight / scale), halves to even, in int8. bias is a copy of the linear layer's in its dtype,
  or None. All three are buffers: there are no parameters, and the state dict holds these three, or two.
- So a weight is off by scale / 2 at most, and a result by Σ |x_i| · scale / 2, but for rounding errors.
- x is float32, bfloat16 or float16, whatever the dtype of the linear layer was, (*batch, in_features), in any
  layout, with any batch dimensions, none and 0 too. The result has the dtype of x, and the rounding errors of
  one linear layer in that dtype: in float16 no sum of integers overflows, and no scale of 1e-8 vanishes.
- Gradients flow to x (for an adapter before the layer), as through the widened weight.
- Int8Linear(in_features, out_features, bias) is an empty layer to load a state dict into: weight and bias 0,
  scale 1, bias in float32.
- A layer holds no wide copy of its weight, neither after from_linear nor after a call without gradients.
- quantize_linears replaces each layer whose type is nn.Linear, at any depth, and leaves subclasses alone (the
  one in nn.MultiheadAttention is used by its weight). skip names layers as named_modules does; they and all
  below them stay. A layer that occurs twice becomes one Int8Linear in both places, or stays in both if skip
  holds one of its names. The model itself is returned, or, if it is an nn.Linear, its Int8Linear. The wide
  weights are let go.
- A new layer is where the old one was (device), and in its mode (train or eval). from_linear changes nothing
  in the layer that it is given.

ValueError: a weight that holds NaN or inf, from quantize_linears with the layer's name in the message; a name
in skip that is no layer of the model. Nothing has been replaced then.
"""

from collections.abc import Collection

import torch
from jaxtyping import Float, Int8
from torch import Tensor, nn


class Int8Linear(nn.Module):
    """A linear layer whose weight is stored in int8.

    Args:
        in_features: of x.
        out_features: of the result.
        bias: whether there is one.
    """

    weight: Int8[Tensor, "out_features in_features"]
    scale: Float[Tensor, "out_features"]
    bias: Float[Tensor, "out_features"] | None

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.register_buffer("weight", torch.zeros(out_features, in_features, dtype=torch.int8))
        self.register_buffer("scale", torch.ones(out_features, dtype=torch.float32))
        self.register_buffer("bias", torch.zeros(out_features, dtype=torch.float32) if bias else None)

    @classmethod
    def from_linear(cls, linear: nn.Linear) -> "Int8Linear":
        """The same layer with its weight in int8.

        Raises:
            ValueError: the weight holds NaN or inf.
        """
        wide = linear.weight.detach().float()  # (out, in)
        if not wide.isfinite().all():
            raise ValueError("the weight holds NaN or inf")
        scale = wide.abs().amax(1) / 127 if wide.numel() else wide.new_zeros(len(wide))  # (out,)
        scale = scale.masked_fill(scale == 0, 1.0)
        layer = cls(linear.in_features, linear.out_features, linear.bias is not None)
        layer.weight = (wide / scale.unsqueeze(1)).round().clamp(-127, 127).to(torch.int8)
        layer.scale = scale
        if linear.bias is not None:
            layer.bias = linear.bias.detach().clone()
        return layer.train(linear.training)

    def forward(self, x: Float[Tensor, "*batch in_features"]) -> Float[Tensor, "*batch out_features"]:
        """The result of the linear layer, nearly, in the dtype of `x`."""
        wide = (self.weight.float() * self.scale.unsqueeze(1)).to(x.dtype)  # (out, in), for this call only
        bias = None if self.bias is None else self.bias.to(x.dtype)
        return nn.functional.linear(x, wide, bias)


def quantize_linears(model: nn.Module, skip: Collection[str] = ()) -> nn.Module:
    """Replace the linear layers of a model by ones in int8.

    Args:
        model: is changed in place.
        skip: names of layers that stay as they are, with all in them.

    Returns:
        The model.

    Raises:
        ValueError: a weight is not finite, or a name in `skip` is unknown. The model is as it was then.
    """
    modules = dict(model.named_modules(remove_duplicate=False))
    if unknown := set(skip) - modules.keys():
        raise ValueError(f"no layers of the model: {', '.join(sorted(unknown))}")
    kept = {id(module) for name in skip for module in modules[name].modules()}
    made: dict[int, Int8Linear] = {}
    places: list[tuple[str, nn.Module]] = []
    for name, module in modules.items():
        if type(module) is not nn.Linear or id(module) in kept:
            continue
        if id(module) not in made:
            try:
                made[id(module)] = Int8Linear.from_linear(module)
            except ValueError as error:
                raise ValueError(f"{name or 'the model'}: {error}") from None
        places.append((name, made[id(module)]))
    for name, layer in places:
        if not name:
            return layer
        parent, _, last = name.rpartition(".")
        setattr(modules[parent], last, layer)
    return model
