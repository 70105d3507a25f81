"""The worked example of unused_parameters."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks.contract import Contract, given
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(1, 1, bias=False)
        self.heads = nn.ModuleList(nn.Linear(1, 1, bias=False) for _ in range(2))

    def forward(self, x, task):
        return self.heads[task](self.body(x))


def worker(rank, world_size, answer, weights, options, batches):
    model = Heads()
    model.load_state_dict(weights)
    optimizer = torch.optim.SGD(model.parameters(), **options)
    losses = answer.train(model, optimizer, F.mse_loss, batches[rank])
    return {name: p.detach() for name, p in model.named_parameters()}, losses


def use(answer, weights, options, batches):
    found = run_ranks(len(batches), worker, weights, options, batches, answer=answer)
    return {f"rank {rank}": list(one) for rank, one in enumerate(found)}


one = torch.ones(1, 1)
before = {"body.weight": one, "heads.0.weight": one, "heads.1.weight": 2 * one}
after = {"body.weight": 0.5 * one, "heads.0.weight": 0.9 * one, "heads.1.weight": 1.8 * one}
contract = Contract(
    "train(model, optimizer, batches)",
    use=use,
    example=(
        given(before, {"lr": 0.1}, [[(one, 0, 0 * one)], [(one, 1, 0 * one)]]),
        {"rank 0": [after, [1.0]], "rank 1": [after, [4.0]]},
    ),
)
