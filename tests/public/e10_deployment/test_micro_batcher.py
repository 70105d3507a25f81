"""The worked example of micro_batcher, on a loop whose clock jumps."""

import asyncio

import torch

from grader.checks import expect_equal, expect_that
from grader.checks.aio.clock import START, run


def now():
    return round(asyncio.get_running_loop().time() - START, 6)


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    sizes = []

    async def predict(batch):
        sizes.append((now(), len(batch)))
        return 10 * batch

    async def main():
        batcher = answer.MicroBatcher(predict, (2,), max_size=3, max_delay=0.5)
        first = await batcher.submit(torch.tensor([1.0, 2.0]))
        rows = await asyncio.gather(*map(batcher.submit, torch.eye(4, 2)))
        await batcher.close()
        return first, rows

    first, rows = run(main(), "the worked example")
    suspects = {
        "the row has a dimension for the batch: take row i of the result": lambda: torch.tensor(
            [[10.0, 20.0]]
        )
    }
    call = "await batcher.submit(torch.tensor([1.0, 2.0]))"
    expect_equal(first, torch.tensor([10.0, 20.0]), call, suspects=suspects)
    for number, (row, wanted) in enumerate(zip(rows, 10 * torch.eye(4, 2), strict=True)):
        told = f"caller {number} of four at once gets the row of another one"
        is_other = not torch.equal(row, wanted) and any(
            torch.equal(row, other) for other in 10 * torch.eye(4, 2)
        )
        expect_that(not is_other, told, yours=row.tolist(), wanted=wanted.tolist())
        expect_equal(row, wanted, f"the row of caller {number} of four at once")
    expect_equal(sizes, [(0.5, 1), (0.5, 3), (1.0, 1)], "(time, size) of the batches")
