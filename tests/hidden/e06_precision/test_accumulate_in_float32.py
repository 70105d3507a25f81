"""What grades feature_means: stalls, overflow, roundings on the way, every row; float64, memory, devices."""

import weakref
from functools import partial

import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_that
from grader.checks.contract import (
    Contract,
    device,
    dtypes,
    empties,
    errors,
    flat_cost,
    given,
    untouched,
    values,
)

HALVES = HALF, BRAIN = torch.float16, torch.bfloat16
KINDS = [*HALVES, torch.float32]
CALL = "feature_means(batches)"


def means(batches, total_in=None, sum_in=None, mean_in=None, by_batch=False, count_in=None, out=None):
    """The means, computed in float64; or with a mistake, in the dtype `"own"` or another one."""
    own, wide = batches[0].dtype, torch.promote_types(batches[0].dtype, torch.float32)

    def cast(x, kind):
        return x.to(own if kind == "own" else kind or torch.float64)

    total, count = cast(torch.zeros(batches[0].shape[1]), total_in), torch.zeros(())
    for x in batches:
        found = x.double().mean(0) if by_batch else x.double().sum(0)
        total = cast(total + cast(found, sum_in), total_in)
        count = cast(count + (1 if by_batch else len(x)), count_in)
    return cast(cast(total.double() / count.double(), mean_in), out or wide)


def drawn(gen, *sizes, dtype=BRAIN, features=4):
    """Batches of so many rows."""
    return [(1 + torch.rand(n, features, generator=gen).double()).to(dtype) for n in sizes]


def equal_rows(dtype, count):
    return given(torch.tensor([[1.0, 0.7, -3.0]]).to(dtype).expand(count, -1).split(1))


def ordinary(gen):
    ones = 1 + torch.rand(1, 5, generator=gen)
    large = [(4e4 + 1e4 * torch.rand(30, 5, generator=gen)).half() for _ in range(3)]
    return {
        "three batches in float16": drawn(gen, 5, 2, 90, dtype=HALF),
        "three batches in bfloat16, one by one": given(tuple(drawn(gen, 5, 2, 90))),
        "three batches in float32": drawn(gen, 5, 2, 90, dtype=torch.float32),
        "one row in bfloat16": drawn(gen, 1),
        "large numbers in float16": large,
        "a thousand equal rows": given(ones.bfloat16().expand(1000, -1).split(1)),
    }


contract = Contract(
    CALL,
    reference=means,
    widens=False,
    # A tuple stands for a generator.
    use=lambda answer, batches: answer.feature_means(batches if type(batches) is list else iter(batches)),
    inputs=ordinary,
    fine_inputs=lambda gen: {"float64": drawn(gen, 4, 0, 9, dtype=torch.float64, features=9)},
    dims="feature",
    ulps=512.0,
    suspects={
        "the sum of each batch is rounded to 16 bits before it is added": partial(means, sum_in="own"),
        "the total is kept in 16 bits: it stalls, or runs over": partial(means, total_in="own", sum_in="own"),
        "the count is kept in 16 bits: it stalls": partial(means, count_in="own"),
        "the mean is rounded to 16 bits": partial(means, mean_in="own"),
        "the mean is in the dtype of the batches: add up in float32, and leave it there": partial(
            means, out="own"
        ),
        "a mean of the batches' means: weigh each by its rows": partial(means, by_batch=True),
        "the sum of all rows: divide by their number": lambda batches: (
            means(batches) * sum(map(len, batches))
        ),
        "the numbers are rounded to float32": lambda batches: means([x.float() for x in batches]).to(
            batches[0].dtype
        ),
        "the batches come once, so there is nothing left for a second loop": lambda batches: 0.0,
    },
    job=[
        values(
            inputs=lambda gen: {f"10,000 equal rows in {kind}": equal_rows(kind, 10_000) for kind in HALVES},
            ulps=2_500.0,
            name="long_corpus",
            title="After 10,000 additions of one row the sums have not stalled.",
        ),
        values(
            inputs=lambda gen: {
                f"{len(sizes)} batches in {kind}": drawn(gen, *sizes, dtype=kind, features=64)
                for kind in HALVES
                for sizes in ((300,), (100, 200, 50))
            },
            ulps=64.0,
            name="sum_of_a_batch",
            title="Neither the sum of a batch nor the mean is rounded to 16 bits on the way.",
        ),
        values(
            inputs=lambda gen: {
                f"{count} batches of large numbers": [torch.tensor([[6e4, -6e4, 3e4]]).half().expand(n, -1)]
                * count
                for n, count in ((200, 1), (1, 200))
            },
            name="overflow",
            title="Sums beyond 65504 are no trouble for float16, within a batch and over batches.",
        ),
    ],
    fine=[
        dtypes(
            torch.float64,
            inputs=lambda gen: [drawn(gen, 30, 4)],
            name="float64",
            title="Batches in float64 are added in float64 and give float64.",
        ),
        empties(
            inputs=lambda gen: {f"{sizes} rows": drawn(gen, *sizes) for sizes in ((0, 4, 0, 3), (2, 0))},
            name="batches_without_rows",
            title="Batches without rows count for nothing, wherever they stand.",
        ),
        errors(
            ValueError,
            lambda gen: {f"{n} batches without rows": [torch.zeros(0, 3)] * n for n in range(3)},
            name="no_rows",
            title="Where there is no row at all, ValueError is raised, instead of NaN.",
        ),
        untouched(
            inputs=lambda gen: [drawn(gen, 1, 2, 1, dtype=kind) for kind in KINDS],
            title="No batch is changed, also where it is a single row.",
        ),
        flat_cost(
            {
                "rows": lambda n: [torch.ones(n, 3).bfloat16()] * 2,
                "features": lambda n: [torch.ones(3, n).bfloat16()] * 2,
            },
            title="The work of a batch does not grow with its rows and features.",
        ),
        device(
            inputs=lambda gen: [drawn(gen, 3, 4, 1)],
            title="On another device the sums are kept there, and nothing is copied.",
        ),
    ],
)


@pytest.mark.fine
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=str)
def test_batches_are_let_go(answer, dtype):
    """When a batch is asked for, at most the one before it is still held."""
    given, most = [], []

    def stream():
        for _ in range(6):
            most.append(sum(one() is not None for one in given[:-1]))
            x = torch.ones(3, 2, dtype=dtype)
            given.append(weakref.ref(x))
            yield x
            del x

    answer.feature_means(stream())
    held = f"{max(most)} besides the one before, when the next is asked for"
    expect_that(max(most) == 0, f"{CALL} holds earlier batches", yours=held)


@pytest.mark.fine
@pytest.mark.gpu
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_on_a_gpu(answer, dtype):
    """On a GPU the sums stall no more than on the CPU."""
    row = torch.tensor([[1.0, 0.7, -3.0]]).to(dtype)
    yours = answer.feature_means(row.cuda() for _ in range(3000))
    expect_equal(yours.device.type, "cuda", f"the device of {CALL}")
    expect_close(yours.cpu(), row[0].float(), f"{CALL} on a GPU", ulps=2_500)
