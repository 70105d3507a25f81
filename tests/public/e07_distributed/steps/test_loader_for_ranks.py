"""The suite of loader_for_ranks, on two real processes."""

from itertools import chain

import pytest
import torch

from grader.checks import expect_equal, expect_that
from grader.checks.distributed import run_ranks

pytestmark = pytest.mark.multi_process

EPOCHS = (0, 1, 2)


def batches(rank, world_size, answer, numbers, batch_size):
    """The batches of this rank in each epoch."""
    loaders = [answer.loader_for_ranks(numbers, batch_size, epoch) for epoch in EPOCHS]
    return [[batch.tolist() for batch in loader] for loader in loaders]


def drawn(gen, size):
    return (torch.randperm(900, generator=gen)[:size] + 100).tolist()


def rows(found, epoch):
    """The rows that each rank gets in an epoch, in its order."""
    return [list(chain(*epochs[epoch])) for epochs in found]


def test_shares(answer, gen):
    """In each epoch every row goes to one rank, in batches of the given size."""
    for size, batch_size, wanted in ((8, 2, [2, 2]), (14, 3, [3, 3, 1])):
        numbers = drawn(gen, size)
        found = run_ranks(2, batches, numbers, batch_size, answer=answer)
        call = f"loader_for_ranks(dataset, {batch_size}, epoch), {size} rows, 2 ranks"
        for epoch in EPOCHS:
            shares = rows(found, epoch)
            all_rows = sorted(chain(*shares))
            what = f"not every row goes to exactly one rank by {call}: give the loader a DistributedSampler"
            expect_that(
                all_rows == sorted(numbers), what, yours=str(shares), wanted=f"all of {sorted(numbers)}"
            )
        for rank, epochs in enumerate(found):
            sizes = [len(batch) for batch in epochs[0]]
            one = {"each batch has one row: hand batch_size to the loader": lambda n=size: [1] * (n // 2)}
            expect_equal(sizes, wanted, f"the sizes of the batches on rank {rank} by {call}", suspects=one)


def test_epochs(answer, gen):
    """Each epoch has another order."""
    numbers = drawn(gen, 24)
    found = run_ranks(2, batches, numbers, 4, answer=answer)
    kept = rows(found, 0) == [numbers[0::2], numbers[1::2]] == rows(found, 1)
    expect_that(not kept, "the rows keep the order of the dataset: the sampler is to shuffle them")
    for epoch in EPOCHS[1:]:
        what = f"epoch {epoch} has the order of epoch {epoch - 1}: tell the sampler, sampler.set_epoch(epoch)"
        before, now = rows(found, epoch - 1), rows(found, epoch)
        expect_that(before != now, what, yours=f"{now[0]} on rank 0, in both epochs")


def oracle(answer, gen):
    numbers = drawn(gen, 12)
    found = run_ranks(2, batches, numbers, 4, answer=answer)
    told = {f"all rows of epoch {epoch}": sorted(chain(*rows(found, epoch))) for epoch in EPOCHS}
    is_other = rows(found, 0) != rows(found, 1)
    return told | {"all rows of epoch 1, in another order than before": [sorted(numbers), is_other]}
