"""The worked example of synchronised_batch_norm: two ranks with two rows each."""

import pytest
import torch

from grader.checks.contract import Contract, given
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process


def worker(rank, world_size, answer, x, weight, bias, eps):
    return answer.sync_batch_norm(x[rank], weight, bias, eps=eps).detach()


def use(answer, x, weight, bias, eps):
    found = run_ranks(len(x), worker, x, weight, bias, eps, answer=answer)
    return {f"rank {rank}": one for rank, one in enumerate(found)}


contract = Contract(
    "sync_batch_norm(x, weight, bias, eps)",
    use=use,
    example=(
        given(
            [torch.tensor([[1.0], [3.0]]), torch.tensor([[5.0], [7.0]])],
            torch.tensor([2.0]),
            torch.tensor([1.0]),
            0.0,
        ),
        {
            "rank 0": torch.tensor([[-1.68328157], [0.10557281]]),
            "rank 1": torch.tensor([[1.89442719], [3.68328157]]),
        },
    ),
)
