"""An MLP that is split over the ranks (tensor parallelism): first by columns, then by rows.

A layer too wide for one device can be cut through. In down(activation(up(x))) the hidden units do not depend
on each other: each rank computes some of them, with their rows of `up.weight` and their columns of
`down.weight` (as nn.Linear stores them, (out, in)). What comes out of a rank's `down` is one term of a sum:

    # two ranks, ReLU; up has the weight [[1.], [2.]] and the bias [0., 1.], down [[3., 5.]] and [0.5]
    mlp = TensorParallelMLP(up, down, activation=torch.relu)
    # rank 0 has up.weight [[1.]], up.bias [0.], down.weight [[3.]]; rank 1 has [[2.]], [1.], [[5.]]
    y = mlp(torch.tensor([[2.]], requires_grad=True))  # 3·2 and 5·5: y is 6 + 25 + 0.5 = 31.5 on both
    y.backward()                                       # the gradient of x is 3·1 + 5·2 = 13 on both

Rules:
- The ranks of `group` (None: the default group; gloo, any number of ranks, also one) build the MLP from
  equal layers, and call it with equal inputs. Rank r of the group, which has N, keeps the hidden units from
  r·H/N to (r+1)·H/N - 1. If N does not divide H, every rank raises ValueError.
- The parameters are plain tensors in memory of their own, in the dtype of the layers: "up.weight"
  (H/N, features), "up.bias" (H/N,), "down.weight" (out, H/N), and "down.bias" (out,), which every rank has
  whole. A layer without a bias (bias=False) gives none. There are no other parameters and no buffers. The
  layers stay as they are, and the MLP does not keep them: they may be large.
- The result is that of down(activation(up(x))) on one process, on every rank: for x with any number of
  leading dimensions, also none, and for no rows. activation works on each number by itself.
- So are the gradients, where each rank comes with the same gradient of the result: for x the whole gradient,
  for up.weight, up.bias and down.weight this rank's cut of it, and for down.bias the whole.
- A forward sends one message, an all-reduce of the size of the result. A backward sends at most one, an
  all-reduce of the size of x. Nothing else is sent, and nothing when the MLP is built. It works without
  gradients (`torch.no_grad`) too.
- x and the gradient that comes in are not changed.
"""

from collections.abc import Callable

import torch
import torch.distributed as dist
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F


class TensorParallelMLP(nn.Module):
    """down(activation(up(x))), of which each rank computes some of the hidden units.

    Args:
        up: the whole first layer, features → H.
        down: the whole second layer, H → out.
        activation: what lies between them.
        group: the ranks that share the work.
    """

    def __init__(
        self,
        up: nn.Linear,
        down: nn.Linear,
        activation: Callable[[Tensor], Tensor] = F.gelu,
        group: dist.ProcessGroup | None = None,
    ) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "*batch features"]) -> Float[Tensor, "*batch out"]:
        """The result of the whole MLP, on every rank."""
        raise NotImplementedError
