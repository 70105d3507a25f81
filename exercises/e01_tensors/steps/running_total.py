"""A total that grows: `cumsum`.

Each row holds what a shop sold from day to day. Return a table of the same shape, with all that the shop has sold up to
each day, that day included.

    running_total(torch.tensor([[1, 2, 3], [5, 0, 2]]))
    # tensor([[1, 3, 6], [5, 5, 7]])

New here: `x.cumsum(dim=0)` adds up down the rows: row i of the result is the sum of the rows 0 to i.
"""

import torch
from jaxtyping import Int
from torch import Tensor


def running_total(sold: Int[Tensor, "shops days"]) -> Int[Tensor, "shops days"]:
    raise NotImplementedError
