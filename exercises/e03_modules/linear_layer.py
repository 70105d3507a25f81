"""A linear layer from its parts: two parameters and one matrix product.

`nn.Linear` is the layer that all others are made of. Write your own, so that it can stand in for it:
y = x Wᵀ + b over the last dimension of x.

    layer = Linear(3, 2)
    dict(layer.named_parameters())          # weight (2, 3) and bias (2,): a row of weights for each output
    # with the weight [[1, 0, 2], [0, 1, 1]] and the bias [10, 20]:
    layer(torch.tensor([1.0, 2.0, 3.0]))    # [1 + 6 + 10, 2 + 3 + 20] = [17, 25]

- With `bias=False` there is no parameter `bias`, and nothing is added.
- x may have any leading dimensions: none, one, many. No Python loop over positions or features.
- The weights start at random, with other numbers for each output and each layer; the bias may start at 0.
- Forward uses what weight and bias are at that moment: they are loaded and trained.
- Without `nn.Linear`, `F.linear` and `F.bilinear`.

Fine print:
- Weight and bias start uniformly between -1/√in_features and 1/√in_features, as those of nn.Linear do.
- They come from PyTorch's global random stream: the same seed, the same layer.
- `device` and `dtype` say where and as what they are made; by default as PyTorch makes tensors.
- With `bias=False` the attribute `layer.bias` is None.
- Leading dimensions may be 0.
- A layer that was moved or cast works there, in its new dtype, and copies nothing to or from the CPU.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Linear(nn.Module):
    """Maps the last dimension of its input from `in_features` to `out_features` numbers."""

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
