"""Pick a row, a column and one number of a table: `x[i, j]`.

A table has a row for each day and a column for each city. Return row i, column j, and the number where they meet, in
this order. Days and cities count from 0.

    x = torch.tensor([[1, 2, 3], [4, 5, 6]])
    row_column_element(x, 1, 0)
    # (tensor([4, 5, 6]), tensor([1, 4]), tensor(4))

New here: `x[2]` is row 2. `x[:, 2]` is column 2: `:` stands for all rows. `x[3, 2]` is the number in row 3 and
column 2, still a tensor, of rank 0.
"""

import torch
from jaxtyping import Int
from torch import Tensor


def row_column_element(
    x: Int[Tensor, "rows columns"], i: int, j: int
) -> tuple[Int[Tensor, " columns"], Int[Tensor, " rows"], Int[Tensor, ""]]:
    raise NotImplementedError
