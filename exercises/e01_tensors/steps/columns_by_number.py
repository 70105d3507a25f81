"""Columns by their numbers: `index_select`.

A table has a row for each pupil and a column for each question. Return the columns of the questions whose numbers
stand in `ids`, in that order.

    points = torch.tensor([[5, 0, 3], [4, 1, 2]])
    columns_by_number(points, torch.tensor([2, 0, 2]))
    # tensor([[3, 5, 3], [2, 4, 2]])

New here: `x.index_select(0, ids)` is `x[ids]`: the 0 is the dim, along the rows. With another dim it picks along
that one, which would take `:` in brackets.
"""

import torch
from jaxtyping import Int
from torch import Tensor


def columns_by_number(
    points: Int[Tensor, "pupils questions"], ids: Int[Tensor, " n"]
) -> Int[Tensor, "pupils n"]:
    raise NotImplementedError
