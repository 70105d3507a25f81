"""The worked example of reduce_scatter_mean: two ranks with four numbers each."""

import pytest
import torch

from grader.checks.contract import Contract, given
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process


def worker(rank, world_size, answer, x):
    mine = x[rank].clone()
    return answer.reduce_scatter_mean(mine), mine


def use(answer, x):
    found = run_ranks(len(x), worker, x, answer=answer)
    return {f"rank {rank}": {"part": part, "x after": left} for rank, (part, left) in enumerate(found)}


rows = [[1.0, 2.0, 3.0, 4.0], [3.0, 4.0, 5.0, 8.0]]
contract = Contract(
    "reduce_scatter_mean(x)",
    use=use,
    example=(
        given([torch.tensor(row) for row in rows]),
        {
            "rank 0": {"part": torch.tensor([2.0, 3.0]), "x after": torch.tensor(rows[0])},
            "rank 1": {"part": torch.tensor([4.0, 6.0]), "x after": torch.tensor(rows[1])},
        },
    ),
)
