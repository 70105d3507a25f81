"""Add up over all ranks: `all_reduce`.

Each rank has counted the right answers in its share of the test set, class by class. Return the sum of `x`
over all ranks, and the mean: every rank gets both. The ranks are already connected when the function is
called.

    # x is tensor([3., 8.]) on rank 0, and tensor([5., 0.]) on rank 1
    sum_over_ranks(x)       # (tensor([8., 8.]), tensor([4., 4.])) on both

- x itself stays as it is.

New here: `dist.all_reduce(y)`, called by every rank, overwrites y with its sum over all ranks, and returns nothing.
`dist.get_world_size()` is the number of ranks.
"""

import torch
import torch.distributed as dist
from jaxtyping import Float
from torch import Tensor


def sum_over_ranks(x: Float[Tensor, "*shape"]) -> tuple[Float[Tensor, "*shape"], Float[Tensor, "*shape"]]:
    raise NotImplementedError
