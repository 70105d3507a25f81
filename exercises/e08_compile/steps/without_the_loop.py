"""One operation instead of a loop.

The code below gives the length of each row, the root of the sum of its squares. It is right, and slow: Python starts
three operations for each row. Write it without a loop over the rows.

    without_the_loop(torch.tensor([[3.0, 4.0], [0.0, 2.0]]))
    # tensor([5., 2.])

New here: `x.norm(dim=1)` is the length of each row of x, for all rows at once. (So is what you know: `square`, `sum` with
a `dim`, `sqrt`.)
"""

import torch
from jaxtyping import Float
from torch import Tensor


def without_the_loop(x: Float[Tensor, "rows columns"]) -> Float[Tensor, "rows"]:
    lengths = []
    for row in x:
        lengths.append(row.square().sum().sqrt())
    return torch.stack(lengths)
