"""Look up rows by their numbers: a tensor as an index.

A table has a row of numbers for each word. Return the rows of the words whose numbers stand in `ids`, in that order: a
word that comes twice has its row twice.

    table = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    rows_by_number(table, torch.tensor([2, 0, 2]))      # tensor([[5., 6.],
                                                        #         [1., 2.],
                                                        #         [5., 6.]])

New here: a tensor of whole numbers in brackets picks rows: with `rows = torch.tensor([4, 1])`, `x[rows]` is row 4
and below it row 1.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def rows_by_number(table: Float[Tensor, "words dim"], ids: Int[Tensor, " n"]) -> Float[Tensor, "n dim"]:
    raise NotImplementedError
