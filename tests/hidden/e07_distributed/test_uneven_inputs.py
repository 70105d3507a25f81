"""What grades uneven_inputs: the weights on all ranks after steps in which some have no batch."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks.contract import Contract, given, values
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process


def linear(weight):
    model = nn.Linear(*weight.shape[::-1], bias=False).to(weight.dtype)
    model.load_state_dict({"weight": weight})
    return model


def worker(rank, world_size, answer, weight, options, batches, one_by_one):
    model = linear(weight)
    optimizer = torch.optim.SGD(model.parameters(), **options)
    own = iter(batches[rank]) if one_by_one else batches[rank]
    losses = answer.train(model, optimizer, F.mse_loss, own)
    return {"weight": model.weight.detach(), "losses": losses}


def use(answer, weight, options, batches, one_by_one=False):
    found = run_ranks(len(batches), worker, weight, options, batches, one_by_one, answer=answer)
    return {f"rank {rank}": one for rank, one in enumerate(found)}


def trained(weight, options, batches, one_by_one=False, steps=max, among_left=False):
    """The steps of all ranks, written out."""
    model, losses = linear(weight), [[] for _ in batches]
    optimizer = torch.optim.SGD(model.parameters(), **options)
    for step in range(steps(len(own) for own in batches)):
        total, left = torch.zeros_like(weight), 0
        for rank, own in enumerate(batches):
            if step < len(own):
                loss = F.mse_loss(model(own[step][0]), own[step][1])
                total, left = total + torch.autograd.grad(loss, model.weight)[0], left + 1
                losses[rank].append(loss.item())
        model.weight.grad = total / (left if among_left else len(batches))
        optimizer.step()
    return {
        f"rank {rank}": {"weight": model.weight.detach(), "losses": own} for rank, own in enumerate(losses)
    }


def alone(weight, options, batches, one_by_one=False):
    """Each rank trains for itself."""
    found = [trained(weight, options, [own])["rank 0"] for own in batches]
    return {f"rank {rank}": one for rank, one in enumerate(found)}


def call(gen, *counts, one_by_one=False, **options):
    """A call: for each rank the number of its batches."""

    def batch():
        return torch.randn(4, 3, generator=gen), torch.randn(4, 2, generator=gen)

    batches = [[batch() for _ in range(count)] for count in counts]
    more = {"one_by_one": True} if one_by_one else {}
    return given(torch.randn(2, 3, generator=gen), {"lr": 0.2, **options}, batches, **more)


contract = Contract(
    "train(model, optimizer, batches)",
    reference=trained,
    use=use,
    inputs=lambda gen: {
        "two ranks with three batches and one": call(gen, 3, 1),
        "three ranks with one batch, two and four": call(gen, 1, 2, 4),
        "two ranks with momentum": call(gen, 1, 3, momentum=0.9),
    },
    ulps=300,
    scale=3.0,
    suspects={
        "all end with the shortest rank": partial(trained, steps=min),
        "the mean is over the ranks that have a batch left: it is over all": partial(
            trained, among_left=True
        ),
        "nothing is averaged: each rank trains for itself": alone,
    },
    fine=[
        values(
            inputs=lambda gen: {"from iterators": call(gen, 2, 4, one_by_one=True)},
            name="iterators",
            title="batches may be an iterator that has no length.",
        ),
        values(
            inputs=lambda gen: {"three ranks, one of which has no batch": call(gen, 2, 0, 3)},
            name="no_batch",
            title="A rank may have no batch at all.",
        ),
    ],
)
