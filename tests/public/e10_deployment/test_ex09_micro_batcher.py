"""The contract of micro_batcher, on a loop whose clock jumps."""

import asyncio

import torch

from grader.checks import expect_equal, expect_raises, expect_that
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
        rows = await asyncio.gather(*map(batcher.submit, torch.ones(4, 2)))
        await batcher.close()
        return first, rows

    first, rows = run(main(), "the worked example")
    expect_equal(first, torch.tensor([10.0, 20.0]), "await batcher.submit(torch.tensor([1.0, 2.0]))")
    expect_equal(rows, [torch.tensor([10.0, 10.0])] * 4, "the rows of four callers at once")
    expect_equal(sizes, [(0.5, 1), (0.5, 3), (1.0, 1)], "(time, size) of the batches")


def test_errors(answer):
    """Bad settings, bad requests and errors of predict raise where the statement says."""

    async def predict(batch):
        raise KeyError("predict is broken")

    async def main():
        batcher = answer.MicroBatcher(predict, (2,), max_size=2, max_delay=0.5)
        requests = torch.ones(2), torch.ones(3), torch.ones(2)
        found = await asyncio.gather(*map(batcher.submit, requests), return_exceptions=True)
        await batcher.close()
        found += await asyncio.gather(batcher.submit(torch.ones(2)), return_exceptions=True)
        return found

    found = run(main(), "submit")
    for yours, wanted in zip(found, (KeyError, ValueError, KeyError, RuntimeError), strict=True):
        expect_that(
            isinstance(yours, wanted), "wrong error", yours=type(yours).__name__, wanted=wanted.__name__
        )
    expect_raises(ValueError, lambda: answer.MicroBatcher(predict, (2,), max_size=0), "max_size=0")
