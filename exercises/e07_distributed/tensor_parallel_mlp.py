"""An MLP split over ranks: tensor parallelism.

A layer too wide for one device can be cut through. In down(activation(up(x))) the hidden units do not depend on each
other: each rank computes some, with their rows of `up.weight` and columns of `down.weight`, and gets one term of the
result.

    # two ranks, ReLU; up has the weight [[1.], [2.]] and the bias [0., 1.], down [[3., 5.]] and [0.5]
    mlp = TensorParallelMLP(up, down, activation=torch.relu)
    # rank 0 has up.weight [[1.]], up.bias [0.], down.weight [[3.]]; rank 1 has [[2.]], [1.], [[5.]]
    y = mlp(torch.tensor([[2.]], requires_grad=True))  # 3·2 and 5·5: y is 6 + 25 + 0.5 = 31.5 on both
    y.backward()                                       # the gradient of x is 3·1 + 5·2 = 13 on both

- The ranks of `group` (None: all) build it from equal layers and call it with equal inputs.
- Each keeps an equal share of the hidden units, in rank order. `down.bias` is whole on every rank.
- The parameters are called "up.weight", "up.bias", "down.weight" and "down.bias".
- Every rank returns what one process would.
- A backward gives x its whole gradient on every rank, and each parameter that of its share.

Fine print:
- A layer without a bias gives no parameter for it.
- If the ranks cannot share the hidden units evenly, every rank raises ValueError.
- x may be a single row, without a batch, or have no rows. The layers may have another dtype.
- The parameters have memory of their own, no more than they need. The layers stay as they are.
- A forward sends one all-reduce of the size of the result, a backward at most one of the size of x; nothing else.
"""

from collections.abc import Callable

import torch
import torch.distributed as dist
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F


class TensorParallelMLP(nn.Module):
    """down(activation(up(x))), of which each rank computes some of the hidden units."""

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
