"""What grades gather_metrics: rows of different numbers, in the order of the data, each once."""

import pytest
import torch

from grader.checks.contract import Contract, given, values
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process


def worker(rank, world_size, answer, values, places):
    return answer.gather_metrics(values[rank], places[rank])


def use(answer, values, places):
    found = run_ranks(len(values), worker, values, places, answer=answer)
    return {f"rank {rank}": one for rank, one in enumerate(found)}


def on_all(x, ranks):
    return {f"rank {rank}": x for rank in range(len(ranks))}


def in_order(values, places):
    """Each place's row."""
    rows = {
        place: row
        for own, at in zip(values, places, strict=True)
        for place, row in zip(at.tolist(), own, strict=True)
    }
    return on_all(torch.stack([rows[place] for place in range(len(rows))]), places)


def by_rank(values, places):
    return on_all(torch.cat(values), places)


def repeated(values, places):
    """In order, and each as often as it comes."""
    return on_all(torch.cat(values)[torch.cat(places).argsort(stable=True)], places)


def alternating(values, places):
    """As a sampler without shuffling deals them."""
    if len({len(at) for at in places}) > 1:
        return None
    return on_all(torch.stack(values, dim=1).flatten(0, 1)[: int(torch.cat(places).max()) + 1], places)


def drawn(gen, counts, size, *columns, dtype=torch.float32):
    """Each rank's rows of a data set of this size, the last of them again where there are too few."""
    whole = (100 * torch.randn(size, *columns, generator=gen)).to(dtype)
    order = torch.randperm(size, generator=gen)
    places = list(torch.cat([order, order])[: sum(counts)].split(counts))
    return given([whole[at] for at in places], places)


contract = Contract(
    "gather_metrics(values, places)",
    reference=in_order,
    use=use,
    inputs=lambda gen: {
        "two ranks with as many rows": drawn(gen, [4, 4], 8, 3),
        "two ranks with five rows and three": drawn(gen, [5, 3], 8, 2),
        "three ranks, with rows that come twice": drawn(gen, [3, 3, 3], 7, 2),
    },
    suspects={
        "the rows stand in the order of the ranks: they are to stand by place": by_rank,
        "a place that comes twice comes out twice": repeated,
        "the ranks' rows are dealt in turn: places say where they belong": alternating,
    },
    fine=[
        values(
            inputs=lambda gen: {
                "integers without columns": drawn(gen, [4, 3], 6, dtype=torch.int64),
                "float64 numbers": drawn(gen, [2, 3], 5, 2, dtype=torch.float64),
            },
            name="other_values",
            title="Values may be integers, and need not have columns; the dtype stays.",
        ),
        values(
            inputs=lambda gen: {"three ranks, one without rows": drawn(gen, [4, 0, 3], 6, 2)},
            name="no_rows",
            title="A rank may have no rows.",
        ),
    ],
)
