"""The worked example of gather_metrics: five places, of which one comes twice."""

import pytest
import torch

from grader.checks.contract import Contract, given
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process


def worker(rank, world_size, answer, values, places):
    return answer.gather_metrics(values[rank], places[rank])


def use(answer, values, places):
    found = run_ranks(len(values), worker, values, places, answer=answer)
    return {f"rank {rank}": one for rank, one in enumerate(found)}


all_rows = torch.tensor([[1.0], [2.0], [3.0], [4.0], [5.0]])
contract = Contract(
    "gather_metrics(values, places)",
    use=use,
    example=(
        given(
            [torch.tensor([[1.0], [3.0], [5.0]]), torch.tensor([[2.0], [4.0], [1.0]])],
            [torch.tensor([0, 2, 4]), torch.tensor([1, 3, 0])],
        ),
        {"rank 0": all_rows, "rank 1": all_rows},
    ),
)
