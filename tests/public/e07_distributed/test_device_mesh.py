"""The worked example of device_mesh: four ranks in two rows."""

import pytest
import torch
import torch.distributed as dist

from grader.checks.contract import Contract, given
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process


def worker(rank, world_size, answer, data, model, x):
    found = {}
    for name, group in zip(("data", "model"), answer.make_groups(data, model), strict=True):
        total = x[rank].clone()
        dist.all_reduce(total, group=group)
        found[f"ranks of the {name} group"] = dist.get_process_group_ranks(group)
        found[f"sum of x over the {name} group"] = total
    found["place_of(rank, model)"] = answer.place_of(rank, model)
    return found


def use(answer, data, model, x):
    found = run_ranks(data * model, worker, data, model, x, answer=answer)
    return {f"rank {rank}": one for rank, one in enumerate(found)}


def all_of(place, data, model, of_data, of_model):
    return {
        "ranks of the data group": data,
        "sum of x over the data group": torch.tensor([of_data]),
        "ranks of the model group": model,
        "sum of x over the model group": torch.tensor([of_model]),
        "place_of(rank, model)": place,
    }


contract = Contract(
    "make_groups(data, model, x)",
    use=use,
    example=(
        given(2, 2, torch.tensor([[1.0], [10.0], [100.0], [1000.0]])),
        {
            "rank 0": all_of((0, 0), [0, 2], [0, 1], 101.0, 11.0),
            "rank 1": all_of((0, 1), [1, 3], [0, 1], 1010.0, 11.0),
            "rank 2": all_of((1, 0), [0, 2], [2, 3], 101.0, 1100.0),
            "rank 3": all_of((1, 1), [1, 3], [2, 3], 1010.0, 1100.0),
        },
    ),
)
