"""What grades unused_parameters: the weights after steps whose ranks use the same heads, others, or none."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks.contract import Contract, given, values
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process

SIZES = {"body.weight": (4, 3)} | {f"heads.{task}.weight": (2, 4) for task in range(3)}


class Heads(nn.Module):
    """One body and three heads; or of the worked example, with a single number for each."""

    def __init__(self, weights):
        super().__init__()
        (width, features), outputs = weights["body.weight"].shape, len(weights["heads.0.weight"])
        self.body = nn.Linear(features, width, bias=False)
        self.heads = nn.ModuleList(nn.Linear(width, outputs, bias=False) for _ in weights if "heads" in _)
        self.to(weights["body.weight"].dtype).load_state_dict(weights)

    def forward(self, x, task):
        return self.heads[task](self.body(x))


def weights_of(model):
    return {name: p.detach() for name, p in model.named_parameters()}


def worker(rank, world_size, answer, weights, options, batches):
    model = Heads(weights)
    optimizer = torch.optim.SGD(model.parameters(), **options)
    losses = answer.train(model, optimizer, F.mse_loss, batches[rank])
    return weights_of(model), losses


def use(answer, weights, options, batches):
    found = run_ranks(len(batches), worker, weights, options, batches, answer=answer)
    return {f"rank {rank}": list(one) for rank, one in enumerate(found)}


def mean(gradients):
    """The mean of one parameter's gradients; None where no rank has one."""
    used = [g for g in gradients if g is not None]
    return sum(used) / len(gradients) if used else None


def zeros(gradients):
    """A gradient of 0 where no rank has one."""
    return mean(gradients) if mean(gradients) is not None else torch.zeros(())


def of_users(gradients):
    """The mean over those that have a gradient."""
    return mean([g for g in gradients if g is not None])


def trained(weights, options, batches, combine=mean):
    """The training written out, with the gradients of all ranks at hand."""
    model, losses = Heads(weights), [[] for _ in batches]
    optimizer = torch.optim.SGD(model.parameters(), **options)
    for step in zip(*batches, strict=True):
        found = []
        for own, (x, task, target) in zip(losses, step, strict=True):
            model.zero_grad()
            loss = F.mse_loss(model(x, task), target)
            loss.backward()
            own.append(loss.item())
            found.append([p.grad for p in model.parameters()])
        for p, gradients in zip(model.parameters(), zip(*found, strict=True), strict=True):
            got = combine(gradients)
            p.grad = None if got is None else got.expand(p.shape).clone()
        optimizer.step()
    return {f"rank {rank}": [weights_of(model), own] for rank, own in enumerate(losses)}


def alone(weights, options, batches):
    """Each rank trains for itself."""
    found = [trained(weights, options, [own])["rank 0"] for own in batches]
    return {f"rank {rank}": one for rank, one in enumerate(found)}


def steps(gen, *tasks, **options):
    """A call: for each rank the tasks of its batches."""
    weights = {name: torch.randn(size, generator=gen) for name, size in SIZES.items()}

    def batch(task):
        return torch.randn(5, 3, generator=gen), task, torch.randn(5, 2, generator=gen)

    return given(weights, {"lr": 0.1, **options}, [[batch(task) for task in own] for own in tasks])


contract = Contract(
    "train(model, optimizer, batches)",
    reference=trained,
    use=use,
    inputs=lambda gen: {
        "two ranks with the same tasks": steps(gen, (0, 1, 2), (0, 1, 2)),
        "two ranks with tasks of their own": steps(gen, (0, 1, 0), (2, 0, 0)),
        "three ranks, of which one has another task": steps(gen, (0, 2), (0, 2), (1, 2)),
    },
    ulps=300,
    scale=3.0,
    suspects={
        "nothing is averaged: each rank trains for itself": alone,
        "the mean is over the ranks that used the head: it is over all": partial(trained, combine=of_users),
    },
    fine=[
        values(
            inputs=lambda gen: {
                "three ranks, with momentum and weight decay": steps(
                    gen, (0, 1, 0), (1, 1, 0), (2, 1, 0), momentum=0.9, weight_decay=0.2
                ),
                "two ranks and a head that is never used": steps(gen, (0, 1), (1, 0), weight_decay=0.3),
            },
            suspects={
                "a head that no rank used has a gradient of 0, where it is to have none: None": partial(
                    trained, combine=zeros
                )
            },
            name="unused_head_stays",
            title="A head that no rank used in a step stays, also with momentum and weight decay.",
        ),
    ],
)
