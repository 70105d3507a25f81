"""Every row several times: `repeat_interleave`.

A game asks each question to n players in turn. Write every row n times, its copies right behind each other: a a b b, and
not a b a b.

    questions = torch.tensor([[1, 2], [3, 4]])
    each_row(questions, 2)      # tensor([[1, 2], [1, 2], [3, 4], [3, 4]])

New here: `x.repeat_interleave(3, dim=1)` writes each column three times; without `dim=` it makes one long row.
`x.repeat(3, 1)` writes the whole table three times, one below the other.
"""

import torch
from jaxtyping import Int
from torch import Tensor


def each_row(x: Int[Tensor, "rows columns"], n: int) -> Int[Tensor, "n*rows columns"]:
    raise NotImplementedError
