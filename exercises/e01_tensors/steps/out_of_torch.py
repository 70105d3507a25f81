"""Take numbers out of a tensor: `.item()` and `.tolist()`.

A report in plain Python has no use for tensors. Return the sum of x as a Python number, and all numbers of x as a
Python list, with lists inside where x is a table.

    out_of_torch(torch.tensor([[1.5, 2.0], [3.0, 0.5]]))
    # (7.0, [[1.5, 2.0], [3.0, 0.5]])

New here: `x.item()` makes a Python number of a tensor with one number, such as `x.sum()`. `x.tolist()` makes a list
of numbers, or a list of lists; `list(x)` is a list of tensors.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def out_of_torch(x: Float[Tensor, "*shape"]) -> tuple[float, list]:
    raise NotImplementedError
