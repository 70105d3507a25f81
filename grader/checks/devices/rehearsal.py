"""Operations that answers use most, run once in a parent.

What torch and the simulated device look up at the first use of each, its forked children have then.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from grader.checks.cost.dispatch import DispatchMode
from grader.checks.devices.rules import traits_of


class _Rehearsal(DispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        traits_of(func)
        return func(*args, **(kwargs or {}))


def rehearse() -> None:
    """Run them, without a gradient: a parent must not start a backward."""
    with torch.device("cpu"):  # the first default device makes torch gather its factory functions
        torch.empty(0)
    with _Rehearsal(), torch.no_grad():
        x, ids = torch.ones(2, 3, 4), torch.arange(2)
        _elementwise(x)
        _shapes(x, ids)
        _reductions(x)
        _new(x)
    for inputs in (x, (x,), [x]):  # as `torch.autograd.grad` asks; for a new class, all subclasses are asked
        isinstance(inputs, Mapping)


# fmt: off
def _elementwise(x: Tensor) -> tuple[object, ...]:
    mask, y = x > 2, x.clone()
    return (
        x + x, x + 1, x - x, 1 - x, x * x, x * 2, x / x, x / 2, 1 / x, x // 2, x % 2, x**2, -x,
        x == x, x != x, x < x, x <= x, x >= x, x == 1, x != 1, x < 1, x <= 1, x >= 1,
        mask & mask, mask | mask, ~mask, torch.where(mask, x, 0), torch.where(mask, x, x),
        x.exp(), x.log(), x.sin(), x.cos(), x.sqrt(), x.rsqrt(), x.abs(), x.square(), x.sigmoid(),
        x.tanh(), x.relu(), x.clamp(0, 1), x.clamp_min(0), x.clamp_max(1), torch.maximum(x, x),
        torch.minimum(x, x), x.isfinite(), x.isnan(),
        y.copy_(x), x.masked_fill(mask, 0), x.double(), x.bool(), x.detach(), y.add_(1), y.sub_(1), y.mul_(2),
    )


def _shapes(x: Tensor, ids: Tensor) -> tuple[object, ...]:
    y, at = x.clone(), ids.view(2, 1, 1)
    y[0], y[ids] = 1.0, x
    return (
        x.view(6, 4), x.reshape(-1), x.mT, x[0].t(), x.transpose(0, 1).contiguous(), x.permute(2, 0, 1),
        x.unsqueeze(0), x.squeeze(), x.squeeze(0), x[0], x[:, 1:], x[..., -1], x[:, None], x[ids],
        x[x > 0], x.flatten(1), x.unbind(), x.expand(2, 2, 3, 4), x.repeat(2, 1, 1), torch.cat((x, x)),
        torch.stack((x, x)), x.flip(0), x.gather(0, at), x.index_select(0, ids), x.tril(), x.triu(),
        y.scatter_(0, at, x[:, :1, :1]),
    )


def _reductions(x: Tensor) -> tuple[object, ...]:
    return (
        x.sum(), x.sum(-1), x.mean(), x.mean(-1), x.prod(), x.var(-1), x.std(-1), x.max(), x.max(-1),
        x.amax(-1), x.min(), x.argmax(-1), x.all(), x.any(), x.cumsum(0), x.softmax(-1), x.log_softmax(-1),
        x.logsumexp(-1), x.sort(-1), x.argsort(-1), x.topk(2), x[0] @ x[0].T, x @ x.mT,
        torch.einsum("bij,bkj->bik", x, x), float(x.sum()), torch.equal(x, x), torch.isclose(x, x),
        torch.nn.functional.linear(x, x[0]),
    )


def _new(x: Tensor) -> tuple[object, ...]:
    return (
        torch.zeros(2), torch.empty(2), torch.full((2,), 1.0), torch.tensor(1.0), torch.eye(2), torch.rand(2),
        torch.zeros_like(x), torch.ones_like(x), torch.full_like(x, 2), torch.empty_like(x), x.new_zeros(2),
        torch.empty_strided((2,), (1,)), torch.arange(0, 2, 1), torch.eye(2, 3),
        torch.linspace(0, 1, 2), torch.randn(2), torch.multinomial(x[0], 1),
    )
