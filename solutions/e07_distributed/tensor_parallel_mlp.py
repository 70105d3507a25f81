from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F


class _ToAllRanks(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, group: dist.ProcessGroup | None) -> Tensor:
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        total = gradient.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=ctx.group)  # the same x went to all ranks: its gradients add up
        return total, None


class _FromAllRanks(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, term: Tensor, group: dist.ProcessGroup | None) -> Tensor:
        total = term.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient, None  # each term of a sum has the gradient of the sum


class TensorParallelMLP(nn.Module):
    def __init__(
        self,
        up: nn.Linear,
        down: nn.Linear,
        activation: Callable[[Tensor], Tensor] = F.gelu,
        group: dist.ProcessGroup | None = None,
    ) -> None:
        super().__init__()
        ranks, rank = dist.get_world_size(group), dist.get_rank(group)
        if up.out_features % ranks:
            raise ValueError(f"{ranks} ranks cannot share {up.out_features} hidden units evenly")
        size = up.out_features // ranks
        mine = slice(rank * size, (rank + 1) * size)
        self.up, self.down = nn.Module(), nn.Module()
        self.up.weight = _copy(up.weight[mine])  # (H/N, features)
        self.up.bias = _copy(None if up.bias is None else up.bias[mine])  # (H/N,)
        self.down.weight = _copy(down.weight[:, mine])  # (out, H/N)
        self.down.bias = _copy(down.bias)  # (out,)
        self.activation = activation
        self.group = group

    def forward(self, x: Float[Tensor, "*batch features"]) -> Float[Tensor, "*batch out"]:
        x = _ToAllRanks.apply(x, self.group)
        hidden = self.activation(F.linear(x, self.up.weight, self.up.bias))  # (*batch, H/N)
        y = _FromAllRanks.apply(F.linear(hidden, self.down.weight), self.group)  # (*batch, out)
        return y if self.down.bias is None else y + self.down.bias  # once, not on each rank


def _copy(t: Tensor | None) -> nn.Parameter | None:
    return None if t is None else nn.Parameter(t.detach().clone(memory_format=torch.contiguous_format))
