"""The same table again and again: `repeat`.

A floor is laid of one pattern. Lay it n times below each other, and m times side by side.

    pattern = torch.tensor([[1, 2], [3, 4]])
    floor(pattern, 1, 2)      # tensor([[1, 2, 1, 2], [3, 4, 3, 4]])

New here: `x.repeat(2, 1)` writes x twice along dim 0, and once along dim 1: a number for each dim. It copies.
`row.expand(4, -1)` shows one row four times and copies nothing; it lengthens only dims of size 1, or new ones in
front.
"""

import torch
from jaxtyping import Int
from torch import Tensor


def floor(pattern: Int[Tensor, "rows columns"], n: int, m: int) -> Int[Tensor, "n*rows m*columns"]:
    raise NotImplementedError
