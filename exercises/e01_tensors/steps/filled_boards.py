"""Make boards of equal numbers: `torch.zeros`, `torch.ones`, `torch.full`.

A game needs three boards of `rows` rows and `columns` columns. Return one of zeros, one of ones, and one with
`value` everywhere, in this order.

    filled_boards(2, 3, 7.5)
    # (tensor([[0., 0., 0.],
    #          [0., 0., 0.]]),
    #  tensor([[1., 1., 1.],
    #          [1., 1., 1.]]),
    #  tensor([[7.5000, 7.5000, 7.5000],
    #          [7.5000, 7.5000, 7.5000]]))

New here: `torch.zeros(4, 9)` makes 4 rows and 9 columns of zeros, `torch.ones(4, 9)` of ones.
`torch.full((4, 9), 0.5)` takes the shape as one tuple, then the value.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def filled_boards(
    rows: int, columns: int, value: float
) -> tuple[Float[Tensor, "rows columns"], Float[Tensor, "rows columns"], Float[Tensor, "rows columns"]]:
    raise NotImplementedError
