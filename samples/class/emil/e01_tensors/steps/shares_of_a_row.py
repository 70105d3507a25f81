"""Divide each row by its sum: `keepdim`.

Three shops report what they sold of each fruit. Turn each row into shares of that shop's total.

    shares_of_a_row(torch.tensor([[1.0, 3.0], [5.0, 5.0]]))      # [[0.25, 0.75], [0.5, 0.5]]

New here: `x.sum(dim=1, keepdim=True)` has the shape (rows, 1), so that it stands beside each row; without
`keepdim` it is (rows,), and dividing goes wrong or divides columns.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def shares_of_a_row(sold: Float[Tensor, "rows columns"]) -> Float[Tensor, "rows columns"]:
    return sold / sold.sum(dim=1)
