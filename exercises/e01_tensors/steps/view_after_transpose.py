"""Read a table column by column: `view` or `reshape`?

A training diary has a row for each week. Write it as one long row: column 0 from top to bottom, then column
1, and so on.

    weeks = torch.tensor([[1, 2, 3], [4, 5, 6]])
    down_the_columns(weeks)      # tensor([1, 4, 2, 5, 3, 6])

The code below raises "view size is not compatible". Mend it.

New here: `x.t()`, or `x.T`, leaves numbers where they are in memory; `view` never moves any. `x.reshape(-1)`
copies them where it must; `x.contiguous()` makes a copy that lies in memory row by row.
"""

import torch
from jaxtyping import Int
from torch import Tensor


def down_the_columns(x: Int[Tensor, "rows columns"]) -> Int[Tensor, "rows*columns"]:
    return x.t().view(-1)
