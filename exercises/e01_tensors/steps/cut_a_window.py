"""Cut a window out of a table: slices.

The first row of a table is a test run, and only its first two columns matter. Return the table without its first row,
and of what is left the first two columns.

    cut_a_window(torch.tensor([[0, 1, 2], [3, 4, 5], [6, 7, 8]]))
    # tensor([[3, 4],
    #         [6, 7]])

New here: `x[a:b, c:d]` takes rows a to b and columns c to d, without b and d, as slices of a list do. What is left
out means "from the start" or "to the end": `x[:4, 3:]`.
"""

import torch
from jaxtyping import Int
from torch import Tensor


def cut_a_window(x: Int[Tensor, "rows columns"]) -> Int[Tensor, "rows-1 2"]:
    raise NotImplementedError
