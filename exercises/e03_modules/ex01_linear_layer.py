"""A linear layer from its parts: two parameters and one matrix product.

`nn.Linear` is the layer that all others are made of. Write your own, so that it can stand in for it:

    layer = Linear(3, 2)
    dict(layer.named_parameters())     # weight (2, 3) and bias (2,): a row of weights for each output
    # with the weight [[1, 0, 2], [0, 1, 1]] and the bias [10, 20]:
    layer(torch.tensor([1.0, 2.0, 3.0]))        # [1 + 6 + 10, 2 + 3 + 20] = [17, 25]

Rules:
- y = x Wᵀ + b over the last dimension of x, for any number of leading dimensions: none, one, many; their
  sizes may be 0. Every output position is computed with matrix products, in memory for x and y but never for
  all (…, out_features, in_features) products at once, and without a Python loop over positions or features.
- Without `nn.Linear` (also as a part or as the base class), `F.linear` and `F.bilinear`, in any spelling.
- `weight` and `bias` are the only parameters; there are no buffers. With `bias=False` there is no parameter
  `bias`, and the attribute `layer.bias` is None. So state dicts load into `nn.Linear` and back.
- Both are drawn uniformly from -1/√in_features … 1/√in_features, the bias too. The numbers come from
  PyTorch's global random stream: the same seed, the same layer; without a new seed, another layer.
- `device` and `dtype` say where and as what the parameters are made: neither moved nor cast afterwards. By
  default that is PyTorch's default device and the default dtype of the moment.
- x has the layer's dtype and device and so has y: a layer that was cast or moved later works in its new
  dtype, on its new device, and copies nothing to or from the CPU. Half precision is right up to a few
  roundings.
- Forward uses what `weight` and `bias` are at that moment (they get loaded, trained, replaced). It does not
  change x, and gradients reach x, weight and bias.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Linear(nn.Module):
    """Maps the last dimension of its input from `in_features` to `out_features` numbers.

    Args:
        in_features: the size of the last dimension of the input, at least 1.
        out_features: the size of the last dimension of the output, at least 1.
        bias: whether to add a bias.
        device: where to make the parameters.
        dtype: what to make them; floating.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "*batch in_features"]) -> Float[Tensor, "*batch out_features"]:
        """The weighted sums of the last dimension of `x`, plus the bias."""
        raise NotImplementedError
