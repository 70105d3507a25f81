"""A table of all pairs: broadcasting twice.

How much later is each train of a than each train of b? Return a table: a row for each number of a, a column
for each of b, and in it the difference, a minus b.

    a, b = torch.tensor([10.0, 20.0, 30.0]), torch.tensor([1.0, 2.0])
    every_pair(a, b)      # tensor([[9., 8.], [19., 18.], [29., 28.]])

New here: no new function. A column (n, 1) and a row (m,) make a table (n, m): both are repeated. Two rows
(n,) and (n,) meet number by number.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def every_pair(a: Float[Tensor, " n"], b: Float[Tensor, " m"]) -> Float[Tensor, "n m"]:
    raise NotImplementedError
