"""What grades device_mesh: the ranks of both groups, and sums over them; tables that do not fit."""

import pytest
import torch
import torch.distributed as dist

from grader.checks import expect_that
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


def in_table(data, model, x, swapped=False, by_columns=False):
    """The groups, read off a table of all ranks."""
    table = torch.arange(data * model).view(data, model)
    if by_columns:
        table = torch.arange(data * model).view(model, data).mT
    found = {}
    for rank in range(data * model):
        ((row, column),) = (table == rank).nonzero().tolist()
        groups = {"data": table[:, column].tolist(), "model": table[row].tolist()}
        if swapped:
            groups = {"data": groups["model"], "model": groups["data"]}
        found[f"rank {rank}"] = {}
        for name, ranks in groups.items():
            found[f"rank {rank}"] |= {
                f"ranks of the {name} group": ranks,
                f"sum of x over the {name} group": x[ranks].sum(0),
            }
        found[f"rank {rank}"]["place_of(rank, model)"] = (row, column)
    return found


def call(gen, data, model):
    return given(data, model, torch.randn(data * model, 3, generator=gen))


contract = Contract(
    "make_groups(data, model, x)",
    reference=in_table,
    use=use,
    inputs=lambda gen: {
        "two copies of two parts": call(gen, 2, 2),
        "one copy of three parts": call(gen, 1, 3),
        "three copies of one part": call(gen, 3, 1),
    },
    scale=10.0,
    suspects={
        "the two groups are swapped": lambda *args: in_table(*args, swapped=True),
        "the table is filled column by column": lambda *args: in_table(*args, by_columns=True),
    },
)


def refused(rank, world_size, answer):
    """What each table that does not fit raises."""
    found = []
    for data, model in ((2, 1), (1, 3), (2, 2)):
        try:
            answer.make_groups(data, model)
            found.append("nothing")
        except Exception as error:
            found.append(type(error).__name__)
    return found


@pytest.mark.fine
def test_other_number_of_ranks(answer):
    """If there are not data · model ranks, every rank raises ValueError."""
    for rank, found in enumerate(run_ranks(3, refused, answer=answer)):
        for table, raised in zip(("2, 1", "1, 3", "2, 2"), found, strict=True):
            wanted = "nothing" if table == "1, 3" else "ValueError"
            told = f"make_groups({table}) on rank {rank} of 3 raises {raised}"
            expect_that(raised == wanted, told, wanted=wanted)
