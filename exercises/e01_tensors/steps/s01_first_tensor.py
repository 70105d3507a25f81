"""A first tensor: rows of numbers.

Two shops counted their fruit. Put the counts into one tensor, a row for each shop: a matrix, or tensor of rank 2.

    first_tensor([3, 4, 0], [1, 5, 9])      # tensor([[3, 4, 0],
                                            #         [1, 5, 9]])

New here: `torch.tensor(numbers)` makes a tensor. A list makes a row of numbers, a list of lists a matrix, one
inner list for each row.
"""

import torch
from jaxtyping import Int
from torch import Tensor


def first_tensor(first: list[int], second: list[int]) -> Int[Tensor, "2 columns"]:
    raise NotImplementedError
