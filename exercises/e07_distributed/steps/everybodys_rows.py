"""Collect the rows of all ranks: `all_gather`.

Each rank has computed predictions for its share, as many rows as every other rank. Give every rank all rows: those of rank
0 first, then those of rank 1, and so on.

    # x is tensor([[1., 2.]]) on rank 0, and tensor([[3., 4.]]) on rank 1
    everybodys_rows(x)      # tensor([[1., 2.], [3., 4.]]) on both

New here: `dist.all_gather(parts, x)`, called by every rank, writes the x of rank i into `parts[i]`. `parts`
is a list that you make before: `dist.get_world_size()` tensors with the shape and dtype of x, for example by
`torch.empty_like(x)`.
"""

import torch
import torch.distributed as dist
from jaxtyping import Float
from torch import Tensor


def everybodys_rows(x: Float[Tensor, "rows columns"]) -> Float[Tensor, "all_rows columns"]:
    raise NotImplementedError
