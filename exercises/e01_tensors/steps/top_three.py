"""The three largest of each row: `topk`.

A search page shows the three best hits of each query. Return two tensors: the three largest scores of each row, the
largest first, and the columns where they stand.

    scores = torch.tensor([[0.1, 0.9, 0.3, 0.7], [8.0, 5.0, 6.0, 7.0]])
    top_three(scores)
    # (tensor([[0.9, 0.7, 0.3], [8.0, 7.0, 6.0]]),
    #  tensor([[1, 3, 2], [0, 3, 2]]))

- No row has a number twice.

New here: `values, places = x.topk(5, dim=0)` gives the five largest along dim 0, the largest first.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def top_three(scores: Float[Tensor, "rows columns"]) -> tuple[Float[Tensor, "rows 3"], Int[Tensor, "rows 3"]]:
    raise NotImplementedError
