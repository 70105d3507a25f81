"""Something to learn: `nn.Parameter`.

The columns of x come in different units. Write a module that multiplies each column by a factor of its own.
All factors start at 1, and training changes them.

    scale = Scale(features=2)
    scale(torch.tensor([[3.0, 4.0]]))     # tensor([[3., 4.]])
    # once it has learned the factors 10 and 0.5: tensor([[30., 2.]])

New here: `self.factor = nn.Parameter(torch.ones(2))` in `__init__` is a tensor that training changes, and
that is stored with the model. A plain tensor on `self` is neither.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Scale(nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "rows features"]) -> Float[Tensor, "rows features"]:
        raise NotImplementedError
