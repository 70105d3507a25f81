"""The contract of sharded_iterable."""

import os

from torch.utils.data import DataLoader

from grader.checks import expect_equal, expect_raises

SHARDS = ["a", "b", "c", "d", "e"]
ALL = [f"{shard}{i}" for shard in SHARDS for i in range(3)]
FORK = "fork" if hasattr(os, "fork") else None


def read(shard):
    yield from (f"{shard}{i}" for i in range(3))


def test_one_reader(answer):
    """Without workers, all examples of the worked example come in order."""
    expect_equal(list(answer.ShardedDataset(SHARDS, read)), ALL, "list(data)")


def test_two_workers(answer):
    """With two workers, every example comes once."""
    data = answer.ShardedDataset(SHARDS, read)
    loader = DataLoader(data, None, num_workers=2, multiprocessing_context=FORK)
    expect_equal(sorted(loader), ALL, "sorted(DataLoader(data, None, num_workers=2))")


def test_two_ranks(answer):
    """Two ranks share the examples among them."""
    ranks = [answer.ShardedDataset(SHARDS, read, rank=rank, world_size=2) for rank in range(2)]
    expect_equal(sorted([*ranks[0], *ranks[1]]), ALL, "the examples of both ranks")


def test_bad_rank(answer):
    """A rank that does not exist raises ValueError."""
    for rank, world_size in ((2, 2), (-1, 2), (0, 0)):
        expect_raises(
            ValueError,
            lambda r=rank, w=world_size: answer.ShardedDataset(SHARDS, read, r, w),
            f"ShardedDataset(…, rank={rank}, world_size={world_size})",
        )
