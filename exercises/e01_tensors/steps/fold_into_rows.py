"""Fold a long row into a table: `view` and `reshape`.

A counter sends its numbers in one long row. Fold it into a table: each `width` numbers are a row. The length
of x is a multiple of width.

    fold_into_rows(torch.tensor([0, 1, 2, 3, 4, 5]), 3)
    # tensor([[0, 1, 2],
    #         [3, 4, 5]])

New here: `x.view(4, 6)` shows the numbers of x, in their order, as 4 rows of 6; so does `x.reshape(4, 6)`,
and either will do here. One of the sizes may be -1: PyTorch finds out which number fits.
"""

import torch
from jaxtyping import Int
from torch import Tensor


def fold_into_rows(x: Int[Tensor, " length"], width: int) -> Int[Tensor, "rows width"]:
    raise NotImplementedError
