"""Take one number from each row: `gather`.

A model gave each photo a score for each of four classes. Return, of each row, the score of the photo's true class.

    scores = torch.tensor([[5, 6, 0, 1], [7, 8, 2, 2]])
    one_per_row(scores, torch.tensor([1, 0]))      # tensor([6, 7])

New here: `x.gather(1, index)` takes from row i of x the columns that row i of index lists. So index has to be a table
as well: `index.unsqueeze(1)` makes a column of a row of numbers, of shape (rows, 1), and `y.squeeze(1)` makes a row
of a column again.
"""

import torch
from jaxtyping import Int
from torch import Tensor


def one_per_row(scores: Int[Tensor, "rows columns"], classes: Int[Tensor, " rows"]) -> Int[Tensor, " rows"]:
    raise NotImplementedError
