"""What grades sharded_iterable: real workers and ranks, order, epochs; evenness, laziness."""

import itertools

import pytest
import torch
from torch.utils.data import DataLoader, get_worker_info

from grader.checks import CheckFailure, expect_equal, expect_that
from grader.checks.dataloader.workers import FORKED

EACH = 3  # examples in a shard
# More workers than processors: a machine may have only one.
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


class Reader:
    """Yields (shard, number, worker), and counts in shared memory how often each shard is opened."""

    def __init__(self, shards):
        self.opened = torch.zeros(shards, dtype=torch.int64).share_memory_()

    def __call__(self, shard):
        info = get_worker_info()
        self.opened[shard] += 1
        for i in range(EACH):
            yield shard, i, 0 if info is None else info.id


def loader_of(data, workers, **options):
    start = FORKED if workers else None
    return DataLoader(data, None, num_workers=workers, multiprocessing_context=start, **options)


def read_by(answer, shards, world_size, workers):
    """What each worker of each rank yields, and how often each shard is opened."""
    read, names = Reader(shards), list(range(shards))
    readers = {}
    for rank in range(world_size):
        stream = list(loader_of(answer.ShardedDataset(names, read, rank, world_size), workers))
        for number in range(max(workers, 1)):
            readers[rank, number] = [(s, i) for s, i, w in stream if w == number]
    return readers, read.opened.tolist()


def expect_once(readers, shards, call):
    """Fail unless each example comes once over all readers, from each in the order of the shards."""
    found = [example for examples in readers.values() for example in examples]
    times = {(s, i): found.count((s, i)) for s in range(shards) for i in range(EACH)}
    wrong = [f"example {i} of shard {s}: {n} times" for (s, i), n in times.items() if n != 1]
    likely = ""
    if set(times.values()) == {len(readers)}:
        likely = "every reader yields everything: each is to take shards of its own"
    elif min(times.values()) > 1:
        likely = "shards are dealt out by rank or by worker alone: number the readers of all ranks"
    elif min(times.values()) == 0:
        likely = "some shards have no reader: each starts at its own number, and steps by the number of all"
    told = f"not every example comes exactly once from {call}"
    expect_that(not wrong, told, yours=", ".join(wrong[:4]), likely=likely)
    for (rank, number), examples in readers.items():
        expect_equal(examples, sorted(examples), f"what worker {number} of rank {rank} reads, {call}")


@pytest.mark.parametrize("shards,world_size,workers", [(5, 1, 0), (6, 1, 4), (5, 2, 0), (9, 2, 2)])
def test_exactly_once(answer, shards, world_size, workers):
    """Over all workers of all ranks, every example comes once, in the order of the shards."""
    readers, _ = read_by(answer, shards, world_size, workers)
    expect_once(readers, shards, f"{shards} shards for {world_size} ranks with {workers} workers each")


def test_opened_once(answer):
    """A shard is opened by the one that reads it, and by nobody else."""
    for world_size, workers in [(1, 2), (2, 0)]:
        _, opened = read_by(answer, 5, world_size, workers)
        told = f"5 shards for {world_size} ranks with {workers} workers are opened more than once"
        expect_that(
            max(opened) == 1,
            told,
            yours=f"{opened} times",
            wanted="once each",
            likely="every reader opens all shards, and passes over what is not its own",
        )


def test_epochs(answer):
    """Each epoch gives everything again: persistent workers, other numbers of workers, or none."""
    data = answer.ShardedDataset(list(range(5)), Reader(5))
    loader = loader_of(data, 2, persistent_workers=True)
    for call, one in [
        ("the first epoch of persistent workers", loader),
        ("the second epoch of persistent workers", loader),
        ("the same dataset without workers", loader_of(data, 0)),
        ("the same dataset with a single worker", loader_of(data, 1)),
    ]:
        stream = list(one)
        numbers = {w for _, _, w in stream} or {0}
        expect_once({(0, n): [(s, i) for s, i, w in stream if w == n] for n in numbers}, 5, call)


@pytest.mark.fine
@pytest.mark.parametrize("shards,world_size,workers", [(5, 1, 4), (10, 2, 2), (1, 3, 0), (0, 1, 2)])
def test_even(answer, shards, world_size, workers):
    """No reader has more than one shard more than another; there may be fewer shards than readers."""
    readers, _ = read_by(answer, shards, world_size, workers)
    call = f"{shards} shards for {world_size} ranks with {workers} workers each"
    expect_once(readers, shards, call) if shards else None
    counts = [len(examples) // EACH for examples in readers.values()]
    told = f"the work is not even: {call}"
    expect_that(max(counts) - min(counts) <= 1, told, yours=f"{counts} shards for each reader")


@pytest.mark.fine
def test_at_once(answer):
    """Two iterators of one dataset do not disturb each other."""
    data = answer.ShardedDataset([0, 1, 2], Reader(3))
    wanted = [(s, i, 0) for s in range(3) for i in range(EACH)]
    first, second = iter(data), iter(data)
    early = [next(first) for _ in range(4)]
    pairs = list(zip(first, second, strict=False))
    expect_equal([*early, *(a for a, _ in pairs)], wanted, "the first of two iterators at once")


@pytest.mark.fine
def test_examples_as_they_are(answer):
    """Examples come as read gives them, from any iterable, also None and empty ones."""
    content = {"generator": (x for x in (None, 0)), "list": [None, "", []], "empty": (), "range": range(2)}
    yours = list(answer.ShardedDataset(list(content), content.__getitem__))
    expect_equal(yours, [None, 0, None, "", [], 0, 1], "the examples, some of them None or empty")


@pytest.mark.fine
def test_listed_twice(answer):
    """A shard that is listed twice is two."""
    same = answer.ShardedDataset(["a", "b", "a", "a"], lambda shard: [shard, shard.upper()])
    for workers in (0, 2):
        call = f"shards a, b, a, a with {workers} workers"
        expect_equal(sorted(loader_of(same, workers)), [*"AAABaaab"], call)


@pytest.mark.fine
def test_nothing_ahead(answer):
    """A shard is opened when its first example is wanted, and may be endless."""
    opened = []

    def read(shard):
        opened.append(shard)
        return endless(shard)

    def endless(shard):
        for i in range(30):
            yield shard, i
        if shard == 2:
            raise CheckFailure("an endless shard is read ahead", wanted="one example at a time")

    stream = iter(answer.ShardedDataset([0, 1, 2], read))
    for count, wanted in [(0, []), (1, [0]), (29, [0]), (31, [0, 1, 2])]:
        last = list(itertools.islice(stream, count))
        expect_equal(opened, wanted, f"the shards that are open after {count} more examples")
    expect_equal(last[-1], (2, 0), "an example of an endless shard")


def oracle(answer, gen):
    sizes = torch.randint(0, 6, (7,), generator=gen).tolist()
    shards = [torch.randint(10**6, (size,), generator=gen).tolist() for size in sizes]
    ranks = [loader_of(answer.ShardedDataset(shards, iter, rank, 2), 2) for rank in range(2)]
    return {
        "one process reads all": lambda: list(answer.ShardedDataset(shards, iter)),
        "two workers share": lambda: sorted(loader_of(answer.ShardedDataset(shards, iter), 2)),
        "two ranks share, with two workers each": lambda: sorted(itertools.chain(*ranks)),
    }
