"""What grades pipeline_microbatches: losses and gradients, the order of messages, the idle share."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_equal
from grader.checks.contract import Contract, given, values
from grader.checks.distributed import count_collectives, run_ranks

pytestmark = pytest.mark.multi_process


def stage_of(weight):
    """A linear layer and a tanh."""
    stage = nn.Sequential(nn.Linear(len(weight), len(weight), bias=False), nn.Tanh()).to(weight.dtype)
    stage.load_state_dict({"0.weight": weight})
    return stage


def worker(rank, world_size, answer, weights, x, target, pieces):
    """Each rank's gradient and loss; what it is not to read is NaN."""
    stage, nan = stage_of(weights[rank]), torch.full_like(x, torch.nan)
    x, target = x if rank == 0 else nan, target if rank == world_size - 1 else nan
    loss = answer.pipeline_step(stage, F.mse_loss, x, target, pieces)
    return stage[0].weight.grad, loss


def use(answer, weights, x, target, pieces):
    found = run_ranks(len(weights), worker, weights, x, target, pieces, answer=answer)
    return {f"rank {rank}": list(one) for rank, one in enumerate(found)}


def whole(weights, x, target, pieces, weigh=lambda rows, pieces, all_rows: rows / all_rows):
    """All stages in one process; each micro-batch counts by its rows."""
    stages = [stage_of(weight) for weight in weights]
    model, total = nn.Sequential(*stages), 0.0
    for part, goal in zip(x.chunk(pieces), target.chunk(pieces), strict=True):
        loss = F.mse_loss(model(part), goal) * weigh(len(part), pieces, len(x))
        loss.backward()
        total += loss.item()
    last = len(stages) - 1
    return {
        f"rank {rank}": [stage[0].weight.grad, total if rank == last else None]
        for rank, stage in enumerate(stages)
    }


def call(gen, ranks, rows, pieces, features=4):
    weights = [torch.randn(features, features, generator=gen) for _ in range(ranks)]
    x, target = (torch.randn(rows, features, generator=gen) for _ in range(2))
    return given(weights, x, target, pieces)


step = Contract(
    "pipeline_step(stage, x, target, pieces)",
    reference=whole,
    use=use,
    inputs=lambda gen: {
        "two stages, three micro-batches": call(gen, 2, 6, 3),
        "three stages, two micro-batches": call(gen, 3, 8, 2),
        "two stages, one micro-batch": call(gen, 2, 5, 1),
    },
    ulps=300,
    scale=3.0,
    suspects={
        "the micro-batches' losses are added up: the loss is the mean": lambda *args: whole(
            *args, weigh=lambda rows, pieces, all_rows: 1.0
        ),
        "each micro-batch counts the same, whatever its rows": lambda *args: whole(
            *args, weigh=lambda rows, pieces, all_rows: 1 / pieces
        ),
    },
    fine=[
        values(
            inputs=lambda gen: {
                "two stages, seven rows in three micro-batches": call(gen, 2, 7, 3),
                "two stages, five rows in four micro-batches, which chunk makes three": call(gen, 2, 5, 4),
            },
            name="other_rows",
            title="Micro-batches need not be of one size.",
        ),
        values(
            inputs=lambda gen: {"a single stage": call(gen, 1, 6, 3)},
            name="one_rank",
            title="One rank alone does it all.",
        ),
    ],
)

bubble = Contract(
    "bubble_fraction(stages, pieces)",
    reference=lambda stages, pieces: (stages - 1) / (pieces + stages - 1),
    inputs=lambda gen: {
        f"{stages} stages": given(stages, int(torch.randint(2, 40, (), generator=gen)))
        for stages in (2, 3, 8)
    },
    suspects={
        "that is the idle time against the busy one: the share is of both": lambda stages, pieces: (
            (stages - 1) / pieces
        ),
    },
)


def messages(rank, world_size, answer):
    """What a rank sends and receives, in order, and the rows of each call of its stage."""
    stage, rows = stage_of(torch.eye(3)), []
    stage.register_forward_hook(lambda module, args, out: rows.append(len(out)))
    with count_collectives() as seen:
        answer.pipeline_step(stage, F.mse_loss, torch.ones(6, 3), torch.zeros(6, 3), 3)
    return rows, [call.kind for call in seen.calls]


def test_schedule(answer):
    """Each micro-batch is sent for itself; all go forward before one goes backward."""
    for rank, (rows, kinds) in enumerate(run_ranks(2, messages, answer=answer)):
        where = f"pipeline_step(…, pieces=3) with 6 rows, on rank {rank} of 2"
        expect_equal(rows, [2, 2, 2], f"the rows of the stage's calls in {where}")
        first, then = ("recv", "send") if rank else ("send", "recv")
        expect_equal(kinds, [first] * 3 + [then] * 3, f"the messages in {where}")
