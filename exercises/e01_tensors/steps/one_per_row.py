"""Take one number from each row: `gather`.

A model scored each photo (row) for each class. Return each photo's score at `classes[i]`, the true class of
photo i.

    scores = torch.tensor([[5, 6, 0, 1], [7, 8, 2, 2]])
    one_per_row(scores, torch.tensor([1, 0]))      # tensor([6, 7])

New here: `x.gather(1, index)` takes from row i of x the columns that row i of index lists (1 is the dim:
along the columns). So index must be a table: `index.unsqueeze(1)` makes a row a column, of shape (rows, 1),
and `y.squeeze(1)` makes it a row again.
"""

import torch
from jaxtyping import Int
from torch import Tensor


def one_per_row(scores: Int[Tensor, "rows columns"], classes: Int[Tensor, " rows"]) -> Int[Tensor, " rows"]:
    raise NotImplementedError
