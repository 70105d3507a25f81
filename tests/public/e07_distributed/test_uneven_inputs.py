"""The worked example of uneven_inputs: two batches on rank 0, one on rank 1."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks.contract import Contract, given
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process


def worker(rank, world_size, answer, weight, options, batches):
    model = nn.Linear(1, 1, bias=False)
    model.load_state_dict({"weight": weight})
    optimizer = torch.optim.SGD(model.parameters(), **options)
    losses = answer.train(model, optimizer, F.mse_loss, batches[rank])
    return {"weight": model.weight.detach(), "losses": losses}


def use(answer, weight, options, batches):
    found = run_ranks(len(batches), worker, weight, options, batches, answer=answer)
    return {f"rank {rank}": one for rank, one in enumerate(found)}


one = torch.ones(1, 1)
contract = Contract(
    "train(model, optimizer, batches)",
    use=use,
    example=(
        given(one, {"lr": 0.1}, [[(one, 0 * one), (2 * one, 0 * one)], [(one, 0 * one)]]),
        {
            "rank 0": {"weight": 0.48 * one, "losses": [1.0, 2.56]},
            "rank 1": {"weight": 0.48 * one, "losses": [1.0]},
        },
    ),
)
