"""An optimizer whose state is split over the ranks (ZeRO, stage 1).

AdamW keeps two numbers for every weight, and in data-parallel training every rank keeps the same ones. It
need not: each rank can hold the state of one part, update this part, and get the others from their owners.
The trainable parameters, flattened and put one after another in the order given, form one vector. It is cut
into as many parts as there are ranks, of one size (zeros fill up the last ones), and rank r owns part r,
wherever the parameters' borders lie:

    # two ranks; a weight [[1., 2.]] and a bias [3.] make the vector 1, 2, 3 and a zero
    # rank 0 owns 1, 2 and rank 1 owns 3, 0
    sharded = ShardedOptimizer(model.parameters(), lambda part: torch.optim.SGD(part, lr=0.1))
    # rank 0 has the gradients [[1., 1.]] and [1.], rank 1 has [[3., 1.]] and [5.]: their means are 2, 1, 3
    sharded.step()  # on both ranks, the weight is now [[0.8, 1.9]] and the bias [2.7]

Rules:
- The caller has joined the ranks to the default process group (gloo; any number of ranks, also one). The
  parameters are the same on all ranks, in any memory layout, and may be fewer numbers than there are ranks.
  They share one dtype, float32 or float64, in which everything is computed. Those that do not require
  gradients are no part of it and stay as they are.
- `self.optimizer` is what make_optimizer returns. It is called once on each rank, with a list of leaves that
  require gradients: one or more tensors that together hold this rank's part. The optimizer treats every
  number alike (SGD, AdamW, ...). Schedulers change its options between the steps.
- step() moves the parameters as the optimizer of one process would with the mean of all ranks' `.grad`, and
  from their values as they are now: someone may have loaded others since the last step. Where `.grad` is
  None, on one rank or on all of them, it counts as zeros. Afterwards the parameters are the same on all
  ranks, bit for bit, and still the caller's own leaves: step() writes into their memory.
- step() does not change the parameters' `.grad`. zero_grad() sets them to None.
- Between the steps a rank holds its part, the part's gradient and the optimizer's state for it; beside
  them and the parameters, no more than a few numbers.
- A step sends two messages, however many parameters there are: a reduce-scatter, into which a rank hands the
  whole vector of gradients, and an all-gather, into which it hands its part.
"""

from collections.abc import Callable, Iterable

import torch
import torch.distributed as dist
from torch import Tensor, nn


class ShardedOptimizer:
    """Updates one part of the parameters on each rank, and shares the results.

    Args:
        params: the parameters of this rank's copy of the model.
        make_optimizer: builds this rank's optimizer from a list of tensors.
    """

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
        """Let go of the gradients of this rank's parameters."""
        raise NotImplementedError
