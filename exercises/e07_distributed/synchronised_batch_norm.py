"""Batch norm over all ranks: the moments of every row, wherever it lies.

With two rows on each device, batch norm takes its mean and variance from two rows. It can take them from the rows of all
ranks; torch's SyncBatchNorm does so on GPUs only. Write it with all-reduces, its gradient as well.

    # two ranks with two rows each; the weight is [2.], the bias [1.], eps=0.
    # x is [[1.], [3.]] on rank 0, [[5.], [7.]] on rank 1: the mean of all is 4, the variance 5
    sync_batch_norm(x, weight, bias, eps=0.0)   # [[-1.6833], [0.1056]] on rank 0, [[1.8944], [3.6833]] on rank 1

- Each feature is normalized by the mean and the variance (divided by the number of rows) over the rows of all ranks.
- Every rank calls backward on its own loss. x gets the gradient of the sum of all ranks' losses: each row moves the moments
  that the others use.
- weight and bias get the gradient of this rank's own rows; DDP adds up the rest.

Fine print:
- Ranks may have different numbers of rows, or none.
- A mean that is large against the spread does not spoil the variance.
- float64 is computed in float64.
"""

from typing import Any

import torch
import torch.distributed as dist
from jaxtyping import Float
from torch import Tensor


def sync_batch_norm(
    x: Float[Tensor, "rows features"],
    weight: Float[Tensor, "features"],
    bias: Float[Tensor, "features"],
    eps: float = 1e-5,
) -> Float[Tensor, "rows features"]:
    """Batch norm in training mode, with the moments of all ranks' rows."""
    raise NotImplementedError
