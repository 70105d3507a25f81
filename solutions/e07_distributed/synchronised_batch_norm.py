from typing import Any

import torch
import torch.distributed as dist
from jaxtyping import Float
from torch import Tensor


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        total = x.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        # the sum went into every rank's loss: its gradients add up
        total = gradient.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total)
        return total


def sync_batch_norm(
    x: Float[Tensor, "rows features"],
    weight: Float[Tensor, "features"],
    bias: Float[Tensor, "features"],
    eps: float = 1e-5,
) -> Float[Tensor, "rows features"]:
    sums = _Sum.apply(torch.cat([x.sum(dim=0), x.new_tensor([len(x)])]))  # (features + 1,)
    rows = sums[-1].detach()
    centered = x - sums[:-1] / rows
    variance = _Sum.apply(centered.square().sum(dim=0)) / rows
    return centered / (variance + eps).sqrt() * weight + bias
