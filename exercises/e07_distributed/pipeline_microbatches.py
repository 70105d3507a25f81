"""A model in stages: a pipeline of micro-batches (GPipe).

A model too deep for one device is cut into stages, one for each rank. Rank 0 sends its activations to rank 1, and so on;
gradients come back the same way. To let ranks wait less, the batch is cut into micro-batches.

    # two ranks, whose stages multiply by 2 and by 3; x [[1.], [2.]], target 0, the mean squared error, pieces=2
    pipeline_step(stage, loss_fn, x, target, pieces=2)
    # None on rank 0, 90.0 on rank 1: the mean of 6² and 12²; .grad: 90.0 on rank 0, 60.0 on rank 1
    bubble_fraction(stages=2, pieces=2)      # 1/3: each rank idles in 1 of 3 time slots

- First all micro-batches go forward, then all backward.
- Each parameter's .grad is that of the whole batch's mean loss. The last rank returns this loss as a float, others None.
- Only rank 0 reads x, only the last rank target; others take their shapes. What stages pass on has the shape of x.
- The idle share counts a forward and a backward as one slot each.

Fine print:
- Rows that pieces do not divide: micro-batches as by `chunk`, each counted by its rows. loss_fn is a mean over rows.
- There may be only one rank.
"""

from collections.abc import Callable

import torch
import torch.distributed as dist
from jaxtyping import Float
from torch import Tensor, nn


def pipeline_step(
    stage: nn.Module,
    loss_fn: Callable[[Tensor, Tensor], Float[Tensor, ""]],
    x: Float[Tensor, "rows features"],
    target: Float[Tensor, "rows features"],
    pieces: int,
) -> float | None:
    """Forward and backward of all micro-batches through this rank's stage."""
    raise NotImplementedError


def bubble_fraction(stages: int, pieces: int) -> float:
    """The share of the time in which a rank waits, if every stage takes equally long."""
    raise NotImplementedError
