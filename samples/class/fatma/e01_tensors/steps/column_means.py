"""A number for each column, or for each row: `dim=`.

Rows are shops, columns are days. Return two tensors: what was sold on each day on the average, and what each shop
sold in all.

    sold = torch.tensor([[1.0, 2.0, 3.0], [5.0, 6.0, 7.0]])
    means_and_sums(sold)      # (tensor([3., 4., 5.]), tensor([6., 18.]))

New here: `x.mean(dim=0)` and `x.sum(dim=0)` run along dim 0, down the rows: one number for each column is left. With
`dim=1` they leave one for each row. The dim that you name goes away.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def means_and_sums(
    sold: Float[Tensor, "rows columns"],
) -> tuple[Float[Tensor, " columns"], Float[Tensor, " rows"]]:
    return sold.mean(dim=1), sold.sum(dim=0)
