"""The contract of sharded_iterable."""

from collections import Counter

from torch.utils.data import DataLoader

from grader.checks import expect_equal, expect_that
from grader.checks.dataloader.workers import FORKED

SHARDS = ["a", "b", "c", "d", "e"]
ALL = [f"{shard}{i}" for shard in SHARDS for i in range(3)]


def read(shard):
    yield from (f"{shard}{i}" for i in range(3))


def test_one_reader(answer):
    """Without workers, all examples of the worked example come in order."""
    found = list(answer.ShardedDataset(SHARDS, read))
    what = "list(data) has iterators in it, one for each shard: `yield from` gives what an iterator gives"
    expect_that(not any(hasattr(one, "__next__") for one in found), what)
    expect_equal(found, ALL, "list(data)")


def test_two_workers(answer):
    """With two workers, every example comes once."""
    data = answer.ShardedDataset(SHARDS, read)
    found = sorted(DataLoader(data, None, num_workers=2, multiprocessing_context=FORKED))
    told = "list(DataLoader(data, None, num_workers=2)) does not have every example once"
    twice = set(Counter(found).values()) == {2}
    expect_that(
        found == ALL,
        told,
        yours=", ".join(found),
        likely="each worker runs all of __iter__, and yields everything" if twice else "",
    )


def test_two_ranks(answer):
    """Two ranks share the examples among them."""
    ranks = [answer.ShardedDataset(SHARDS, read, rank=rank, world_size=2) for rank in range(2)]
    expect_equal(sorted([*ranks[0], *ranks[1]]), ALL, "the examples of both ranks")
