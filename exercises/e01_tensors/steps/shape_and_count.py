"""Ask a tensor how large it is: `x.shape`.

Return three things of a tensor of any size: its shape, the number of its dimensions (*dims*), and how many
numbers it holds.

    shape_and_count(torch.tensor([[3, 4, 0], [1, 5, 9]]))
    # (torch.Size([2, 3]), 2, 6)

New here: `x.shape` (or `x.size()`) is a tuple, torch.Size: rows, columns, and so on. `x.ndim` is the number
of dims, the rank; `x.numel()` is the number of numbers. `len(x)` counts only the rows.

In signatures, `Shaped` is any dtype (kind of number), `Float` decimal, `*shape` any dims.
"""

import torch
from jaxtyping import Shaped
from torch import Tensor


def shape_and_count(x: Shaped[Tensor, "*shape"]) -> tuple[torch.Size, int, int]:
    raise NotImplementedError
