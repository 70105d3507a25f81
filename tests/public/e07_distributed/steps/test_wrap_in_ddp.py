"""The suite of wrap_in_ddp, on two real processes."""

import pytest
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from grader.checks import expect_close, expect_that
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process


def trained(rank, world_size, answer, weight, xs, ys):
    """The weight after the step, what was returned, and what that makes of the rows."""
    model = nn.Linear(weight.shape[1], 1, bias=False)
    nn.init.zeros_(model.weight)
    model.weight.data += weight
    result = answer.wrap_in_ddp(model, xs[rank], ys[rank])
    is_wrapped = isinstance(result, DistributedDataParallel)
    predicted = result(xs[rank]).detach() if is_wrapped else None
    return model.weight.detach(), is_wrapped, type(result).__name__, predicted


def step(weight, x, y):
    """The weight after a step on these rows alone."""
    return weight - 0.1 * 2 * (x @ weight.T - y).T @ x / len(x)


def expect_step(answer, weight, xs, ys):
    both = step(weight, xs.flatten(0, 1), ys.flatten(0, 1))
    for rank, (yours, is_wrapped, kind, _) in enumerate(run_ranks(2, trained, weight, xs, ys, answer=answer)):
        what = "wrap_in_ddp(model, x, y) does not return the wrapped model"
        expect_that(is_wrapped, what, yours=kind, wanted="DistributedDataParallel")
        suspects = {
            "the gradients of the ranks were not averaged: call wrapped(x), and not model(x)": (
                lambda rank=rank: step(weight, xs[rank], ys[rank])
            ),
            "no step was taken": lambda: weight,
            "the gradients of the ranks were added up": lambda: 2 * both - weight,
            "the errors of the rows are added up: the loss is their mean": lambda: (
                weight + len(xs[0]) * (both - weight)
            ),
        }
        where = f"the weight on rank {rank} after wrap_in_ddp(model, x, y)"
        expect_close(yours, both, where, suspects=suspects, ulps=64)


def test_worked_example(answer):
    """The worked example of the statement comes out on both ranks."""
    xs, ys = torch.tensor([[[1.0]], [[2.0]]]), torch.tensor([[[2.0]], [[3.0]]])
    expect_step(answer, torch.tensor([[1.0]]), xs, ys)


def test_values(answer, gen):
    """Both ranks take the same step, that of the batch of all ranks."""
    expect_step(answer, *drawn(gen))


def drawn(gen):
    xs = torch.randn(2, 4, 3, generator=gen)
    return torch.randn(1, 3, generator=gen), xs, torch.randn(2, 4, 1, generator=gen)


def oracle(answer, gen):
    (first, *_, predicted), (second, *_) = run_ranks(2, trained, *drawn(gen), answer=answer)
    return {
        "the weight on rank 0": first,
        "the weight on rank 1": second,
        "the predictions of the wrapped model": predicted,
    }
