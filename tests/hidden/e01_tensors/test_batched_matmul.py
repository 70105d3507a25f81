"""What grades batched_matmul: leading dimensions, roles, gradients; broadcasting, dtypes, bytes."""

import pytest
import torch

from grader.checks import expect_that, peak_bytes
from grader.checks.contract import (
    Contract,
    dtypes,
    empties,
    flat_cost,
    strides,
    untouched,
    values,
)

BATCHES = {
    "arguments without a batch": (),
    "a batch of three": (3,),
    "a batch of heads": (2, 3),
    "beams of heads": (2, 2, 3),
}
BROADCAST = [((3, 3), (3,)), ((2, 1, 3), (4, 1)), ((2, 3), ()), ((), (4,))]


def plain_scores(query, key):
    return (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(-1)


def plain_outer(left, right):
    return left.unsqueeze(-1) * right.unsqueeze(-2)


def plain_bilinear(left, weight, right):
    return (plain_outer(left, right).unsqueeze(-3) * weight).sum((-2, -1))


def drawn(gen, first, last, sizes):
    """Arguments of these sizes; the first and the last have leading dimensions, a weight has none."""
    leads = (first, *[()] * (len(sizes) - 2), last)
    return tuple(torch.randn((*lead, *size), generator=gen) for lead, size in zip(leads, sizes, strict=True))


def batches(sizes):
    return lambda gen: {about: drawn(gen, lead, lead, sizes) for about, lead in BATCHES.items()}


def job(cube, swapped):
    """Clauses of the job, for arguments of the sizes `cube(n)`."""
    return [
        values(title="The products are right for no, one and several leading dimensions."),
        values(
            inputs=lambda gen: [drawn(gen, (), (), cube(3))],
            suspects=swapped,
            name="square",
            title="The arguments keep their roles where all sizes are equal.",
        ),
        flat_cost(lambda n: drawn(torch.Generator(), (n,), (n,), cube(n)), over="any size"),
    ]


def fine(cube, sizes):
    """Clauses of the fine print."""

    def broadcast(gen):
        return {f"leading dims {one} and {two}": drawn(gen, one, two, sizes) for one, two in BROADCAST}

    return [
        values(inputs=broadcast, name="broadcast", title="Leading dimensions that differ broadcast."),
        values(
            inputs=lambda gen: [drawn(gen, lead, lead, cube(1)) for lead in ((), (2,), (2, 1))],
            name="sizes_of_one",
            title="Sizes of 1 stay as dimensions.",
        ),
        empties(inputs=lambda gen: {"an empty batch": drawn(gen, (0,), (0,), sizes)}),
        strides(inputs=lambda gen: [drawn(gen, (2, 3), (2, 3), sizes)]),
        dtypes(torch.float16, torch.bfloat16, torch.float64),
    ]


QUERY_KEY = [(2, 4), (6, 4)]
ROW_COLUMN = [(4,), (5,)]
BILINEAR = [(4,), (3, 4, 5), (5,)]

scores = Contract(
    "scores(query, key)",
    reference=plain_scores,
    inputs=batches(QUERY_KEY),
    gradient="query key",
    scale=8.0,
    suspects={
        "query and key change places": lambda query, key: plain_scores(key, query).reshape(
            *query.shape[:-1], key.shape[-2]
        )
    },
    job=job(
        lambda n: [(n, n)] * 2, {"query and key change places": lambda query, key: plain_scores(key, query)}
    ),
    fine=[*fine(lambda n: [(n, n)] * 2, QUERY_KEY), untouched()],
)

outer = Contract(
    "outer(left, right)",
    reference=plain_outer,
    inputs=batches(ROW_COLUMN),
    gradient="left right",
    scale=8.0,
    job=job(
        lambda n: [(n,)] * 2, {"left and right change places": lambda left, right: plain_outer(right, left)}
    ),
    fine=fine(lambda n: [(n,)] * 2, ROW_COLUMN),
)

bilinear = Contract(
    "bilinear(left, weight, right)",
    reference=plain_bilinear,
    inputs=batches(BILINEAR),
    gradient="left weight right",
    scale=8.0,
    job=job(
        lambda n: [(n,), (n, n, n), (n,)],
        {"left and right change places": lambda left, weight, right: plain_bilinear(right, weight, left)},
    ),
    fine=fine(lambda n: [(n,), (n, n, n), (n,)], BILINEAR),
)


@pytest.mark.fine
def test_scores_need_no_third_dimension(answer):
    """`scores` never holds time * source * dim numbers at once."""
    peak = peak_bytes(lambda: answer.scores(torch.ones(2, 32, 24), torch.ones(2, 40, 24)))
    result = 2 * 32 * 40 * 4
    expect_that(
        peak < result * 24 // 2,
        "scores(query, key) builds a tensor of time * source * dim numbers",
        yours=f"{peak} bytes at once",
        wanted=f"about {result} bytes, those of the result",
        likely="a broadcast product and a sum; a matrix product adds up as it goes",
    )
