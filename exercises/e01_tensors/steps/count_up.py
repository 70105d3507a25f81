"""Count up in even steps: `torch.arange` and `torch.linspace`.

Return the marks of two rulers: the even numbers from 0 to below `stop`; and `n` points from 0 to 1, equally
far apart, with 0 and 1 among them (n is at least 2).

    count_up(8, 5)
    # (tensor([0, 2, 4, 6]), tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000]))

New here: `torch.arange(start, stop, step)` counts like Python's `range`: stop itself is left out.
`torch.linspace(start, end, n)` gives n numbers, and end is the last of them.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def count_up(stop: int, n: int) -> tuple[Int[Tensor, " evens"], Float[Tensor, " n"]]:
    raise NotImplementedError
