"""How many of each: `bincount`.

Each voter wrote down the number of a candidate, from 0 to n - 1. Return how many votes each of the n candidates has:
0 for who has none.

    votes = torch.tensor([2, 0, 2, 2])
    count_each(votes, 4)      # tensor([1, 0, 3, 0])

New here: `torch.bincount(x)` counts the zeros, the ones, and so on up to the largest number in x.
`minlength=7` makes the result at least 7 long.
"""

import torch
from jaxtyping import Int
from torch import Tensor


def count_each(votes: Int[Tensor, " voters"], n: int) -> Int[Tensor, " n"]:
    raise NotImplementedError
