"""What a learner sees first of epoch_reshuffle: the epochs of two ranks."""

from itertools import chain

import pytest
import torch

from grader.checks import expect_equal, expect_that
from grader.checks.distributed import run_ranks


class Training:
    """Writes down on which numbers it trains in each of four epochs."""

    def __init__(self):
        self.seen = [[] for _ in range(4)]

    def train_batch(self, epoch, batch):
        self.seen[epoch] += batch.tolist()


def epochs_of(rank, world_size, answer):
    training = Training()
    answer.run_epochs(torch.arange(24), training.train_batch, 4, 4)
    return training.seen


@pytest.mark.multi_process
def test_epochs_differ(answer):
    """Each epoch uses every example once, in another order than the other epochs, on both ranks."""
    found = run_ranks(2, epochs_of, answer=answer)
    for epoch, shares in enumerate(zip(*found, strict=True)):
        expect_equal(sorted(chain(*shares)), list(range(24)), f"the examples of epoch {epoch} on both ranks")
    for rank, orders in enumerate(found):
        for epoch, order in enumerate(orders):
            is_new = order not in orders[:epoch]
            expect_that(
                is_new, f"epoch {epoch} repeats the order of an epoch before, on rank {rank}", yours=order
            )
