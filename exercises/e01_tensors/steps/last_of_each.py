"""The last number along the last dim: `x[..., j]`.

Some sensors send one row of numbers, some a table, some more dims; the newest number always stands last in the last
dim. Return the newest numbers only, whatever dims come before.

    last_of_each(torch.tensor([[1, 2, 3], [4, 5, 6]]))      # tensor([3, 6])
    last_of_each(torch.tensor([1, 2, 3]))                   # tensor(3)

New here: in brackets, `...` stands for all dims that are not named: `x[..., 0]` takes the first along the last dim.
-1 counts from the end, as in lists.
"""

import torch
from jaxtyping import Int
from torch import Tensor


def last_of_each(x: Int[Tensor, "*before last"]) -> Int[Tensor, "*before"]:
    raise NotImplementedError
