"""An optimizer whose state is split over the ranks (ZeRO, stage 1).

AdamW keeps two numbers for every weight, and in data-parallel training every rank keeps the same ones. It need not:
each rank can hold the state of one part of the parameters, update this part, and get the others from their owners.

    # two ranks; a model with the weight [[1., 2.]] and the bias [3.]
    sharded = ShardedOptimizer(model.parameters(), lambda part: torch.optim.SGD(part, lr=0.1))
    # rank 0 owns the numbers 1 and 2, rank 1 the 3
    # rank 0 has the gradients [[1., 1.]] and [1.], rank 1 has [[3., 1.]] and [5.]: their means are 2, 1, 3
    sharded.step()  # on both ranks, the weight is now [[0.8, 1.9]] and the bias [2.7]

- step() moves the parameters, on all ranks, as one process would with the mean of the ranks' `.grad`.
- `self.optimizer` is what make_optimizer returns for this rank's part, a list of leaf tensors.
- Each number has one owner. Who owns what is up to you: whole parameters, say.
- zero_grad() clears the gradients of all parameters.

Fine print:
- The parts have one size, wherever parameters end: all numbers in a row, cut into equal parts, with zeros at the end.
- There may be fewer numbers than ranks.
- Between steps a rank holds its part, the part's gradient and the optimizer's state, and a few numbers at most.
- A step sends a reduce-scatter of all gradients and an all-gather of the parts, however many parameters there are.
- step() does not change `.grad`. Where it is None on a rank, it counts as zeros.
- Parameters that do not require gradients are no part of it.
- Learning rates that a scheduler sets in `self.optimizer`, and parameters that someone loads, count in the next step.
- The parameters may be in float64, in any memory layout.
"""

from collections.abc import Callable, Iterable

import torch
import torch.distributed as dist
from torch import Tensor, nn


class ShardedOptimizer:
    """Updates one part of the parameters on each rank, and shares the results."""

    optimizer: torch.optim.Optimizer

    def __init__(
        self,
        params: Iterable[nn.Parameter],
        make_optimizer: Callable[[list[Tensor]], torch.optim.Optimizer],
    ) -> None:
        raise NotImplementedError

    def step(self) -> None:
        """Move all parameters on all ranks by the mean of the ranks' gradients; every rank calls it."""
        raise NotImplementedError

    def zero_grad(self) -> None:
        """Clear the gradients of this rank's copy of the parameters."""
        raise NotImplementedError
