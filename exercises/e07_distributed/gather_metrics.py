"""The results of all ranks, in the order of the data, each once.

After an evaluation each rank has the scores of the rows that it saw, and for each its place in the data set. Ranks may have
seen different numbers of rows; and a DistributedSampler hands some rows out twice, so that all get equally many, which a metric
must not count twice.

    # rank 0 has values [[1.], [3.], [5.]] of the places [0, 2, 4], rank 1 [[2.], [4.], [1.]] of [1, 3, 0]
    gather_metrics(values, places)      # [[1.], [2.], [3.], [4.], [5.]] on both

- Every rank gets all rows, in the order of their places.
- A place that comes several times has the same values each time, and comes out once.
- Together the ranks have every place from 0 on.

Fine print:
- Values may be integers, and need not have columns; the dtype stays.
- A rank may have no rows.
"""

import torch
import torch.distributed as dist
from jaxtyping import Int, Shaped
from torch import Tensor


def gather_metrics(
    values: Shaped[Tensor, "rows *columns"], places: Int[Tensor, "rows"]
) -> Shaped[Tensor, "all_rows *columns"]:
    """The rows of all ranks, by place, on every rank."""
    raise NotImplementedError
