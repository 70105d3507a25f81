"""Add a small tensor to a large one: broadcasting.

Write two functions: one adds `bias`, a number for each column of x; the other multiplies by `factors`, a
number for each row.

    x = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    add_to_columns(x, torch.tensor([10.0, 20.0]))
    # [[11, 22], [13, 24], [15, 26]]
    scale_rows(x, torch.tensor([1.0, 0.0, 2.0]))
    # [[1, 2], [0, 0], [10, 12]]

New here: shapes are compared from the right, and a size that is 1, or missing, is repeated: (3, 2) + (2,)
fits as it is. (3,) does not stand beside the rows of (3, 2) until `unsqueeze(1)` makes it (3, 1).
"""

import torch
from jaxtyping import Float
from torch import Tensor


def add_to_columns(
    x: Float[Tensor, "rows columns"], bias: Float[Tensor, " columns"]
) -> Float[Tensor, "rows columns"]:
    raise NotImplementedError


def scale_rows(
    x: Float[Tensor, "rows columns"], factors: Float[Tensor, " rows"]
) -> Float[Tensor, "rows columns"]:
    raise NotImplementedError
