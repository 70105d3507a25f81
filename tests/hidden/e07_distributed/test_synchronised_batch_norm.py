"""What grades synchronised_batch_norm: values and gradients, as if one process had all rows."""

from functools import partial

import pytest
import torch

from grader.checks.contract import Contract, dtypes, given, values
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process


def worker(rank, world_size, answer, x, weight, bias, eps, slope):
    x, weight, bias = (t.clone().requires_grad_() for t in (x[rank], weight, bias))
    y = answer.sync_batch_norm(x, weight, bias, eps)
    if slope is None:
        return y.detach()
    (y * slope[rank]).sum().backward()
    return {"x.grad": x.grad, "weight.grad": weight.grad, "bias.grad": bias.grad}


def use(answer, x, weight, bias, eps, slope=None):
    found = run_ranks(len(x), worker, x, weight, bias, eps, slope, answer=answer)
    return {f"rank {rank}": one for rank, one in enumerate(found)}


def normed(x, moments, weight, bias, eps, correction=0):
    var, mean = torch.var_mean(moments, dim=0, correction=correction)
    return (x - mean) / (var + eps).sqrt() * weight + bias


def whole(x, weight, bias, eps, slope=None, alone=False, frozen=False, correction=0):
    """All rows in one process. The mistakes: each rank for itself; moments without a graph, or by n - 1."""
    x = [part.clone().requires_grad_() for part in x]
    weights = [[t.clone().requires_grad_() for t in (weight, bias)] for _ in x]
    every, y = torch.cat(x), []
    for own, (w, b) in zip(x, weights, strict=True):
        of = own if alone else every.detach() if frozen else every
        y.append(normed(own, of, w, b, eps, correction))
    if slope is None:
        return {f"rank {rank}": one.detach() for rank, one in enumerate(y)}
    sum((one * factor).sum() for one, factor in zip(y, slope, strict=True)).backward()
    found = {}
    for rank, (own, (w, b)) in enumerate(zip(x, weights, strict=True)):
        found[f"rank {rank}"] = {"x.grad": own.grad, "weight.grad": w.grad, "bias.grad": b.grad}
    return found


def call(gen, *rows, features=3, eps=0.1, backward=False, shift=0.0):
    x = [torch.randn(n, features, generator=gen) * 2 + rank + shift for rank, n in enumerate(rows)]
    weight, bias = torch.randn(features, generator=gen), torch.randn(features, generator=gen)
    slope = [torch.randn(n, features, generator=gen) for n in rows] if backward else None
    return given(x, weight, bias, eps, *([slope] if backward else []))


contract = Contract(
    "sync_batch_norm(x, weight, bias, eps)",
    reference=whole,
    use=use,
    inputs=lambda gen: {
        "two ranks with four rows each": call(gen, 4, 4),
        "three ranks with two rows each": call(gen, 2, 2, 2),
        "two ranks with five rows each": call(gen, 5, 5, features=2, eps=1e-3),
    },
    ulps=200,
    scale=3.0,
    suspects={
        "each rank is normalized by its own rows": partial(whole, alone=True),
        "the variance is divided by n - 1": partial(whole, correction=1),
    },
    job=[
        values(
            inputs=lambda gen: {
                "two ranks with a loss each": call(gen, 4, 4, backward=True),
                "three ranks with a loss each": call(gen, 2, 2, 2, backward=True),
            },
            suspects={
                "the moments have no graph": partial(whole, frozen=True),
                "each rank is normalized by its own rows": partial(whole, alone=True),
            },
            name="gradients_over_ranks",
            title="x has the gradient of all ranks' losses; weight and bias that of this rank's rows.",
        )
    ],
    fine=[
        values(
            inputs=lambda gen: {
                "ranks with five, two and three rows": call(gen, 5, 2, 3, backward=True),
                "ranks with four rows and none": call(gen, 4, 0, backward=True),
            },
            name="uneven_rows",
            title="Ranks may have different numbers of rows, or none.",
        ),
        values(
            inputs=lambda gen: {"a mean of 3000": call(gen, 6, 6, shift=3000.0, eps=1e-3)},
            ulps=20_000,
            name="large_mean",
            title="A mean that is large against the spread does not spoil the variance.",
        ),
        dtypes(torch.float64),
    ],
)
