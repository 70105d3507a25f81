"""What grades sharded_iterable: real workers and ranks, tails, order, epochs, laziness, errors."""

import functools
import itertools
import os
import pickle

import pytest
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from grader.checks import CheckFailure, expect_equal, expect_raises, expect_that
from grader.checks.dataloader.workers import PICKLED, signed, spawned_epochs

FORK = "fork" if hasattr(os, "fork") else None
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
    if workers:
        options.setdefault("multiprocessing_context", FORK)
    return DataLoader(data, options.pop("batch_size", None), num_workers=workers, **options)


def expect_epoch(streams, shards, call):
    """Fail unless these streams, one for each rank, hold each shard once, whole, in order, and evenly."""
    readers = {key: [] for key in streams}
    for key, stream in streams.items():
        rank, workers = key
        readers.pop(key)
        for number in range(max(workers, 1)):
            readers[rank, number] = [(s, i) for s, i, w in stream if w == number]
    found = sorted(example for examples in readers.values() for example in examples)
    wanted = [(s, i) for s in range(shards) for i in range(EACH)]
    times = {example: found.count(example) for example in wanted}
    wrong = [f"example {i} of shard {s}: {n} times" for (s, i), n in times.items() if n != 1]
    expect_that(
        found == wanted, f"not every example comes exactly once from {call}", yours=", ".join(wrong[:4])
    )
    for (rank, number), examples in readers.items():
        whole = [(s, i) for s in sorted({s for s, _ in examples}) for i in range(EACH)]
        expect_equal(examples, whole, f"what worker {number} of rank {rank} reads, {call}")
    counts = [len(examples) // EACH for examples in readers.values()]
    expect_that(
        max(counts) - min(counts) <= 1,
        f"the work is not even: {call}",
        yours=f"{counts} shards for each reader",
    )


CASES = [
    (5, 1, 0), (5, 1, 1), (6, 1, 4), (1, 1, 2), (0, 1, 0), (1, 1, 0), (5, 2, 0), (10, 4, 0), (1, 3, 0),
    (0, 2, 0), (7, 2, 2), (5, 3, 2),
]  # fmt: skip


@pytest.mark.parametrize("shards,world_size,workers", CASES)
def test_exactly_once(answer, shards, world_size, workers):
    """Over all workers of all ranks, each shard is opened once and read whole, and the work is even."""
    read = Reader(shards)
    names = list(range(shards))
    ranks = [answer.ShardedDataset(names, read, rank, world_size) for rank in range(world_size)]
    streams = {(r, workers): list(loader_of(data, workers)) for r, data in enumerate(ranks)}
    call = f"{shards} shards for {world_size} ranks with {workers} workers each"
    expect_epoch(streams, shards, call)
    expect_equal(read.opened.tolist(), [1] * shards, f"how often each shard is opened, {call}")
    expect_equal(names, list(range(shards)), "the list of shards afterwards")


def test_one_reader(answer):
    """A dataset alone gives all shards in order, and is an IterableDataset."""
    data = answer.ShardedDataset(tuple(range(4)), Reader(4))
    expect_that(isinstance(data, IterableDataset), "ShardedDataset is no IterableDataset", yours=data)
    wanted = [(s, i, 0) for s in range(4) for i in range(EACH)]
    expect_equal(list(data), wanted, "list(ShardedDataset(shards, read))")
    expect_equal(list(data), wanted, "list of the same dataset, for the second time")
    expect_raises(TypeError, lambda: len(data), "len(data), whose examples nobody has counted,")


def test_rank_is_given(answer, monkeypatch):
    """The rank is the one that was given, also in a process that has another rank in a process group."""
    for name, value in (("is_initialized", True), ("get_rank", 1), ("get_world_size", 2)):
        monkeypatch.setattr(torch.distributed, name, lambda *group, value=value: value)
    for rank, world_size in ((0, 1), (2, 3)):
        found = list(answer.ShardedDataset(range(3), Reader(3), rank, world_size))
        wanted = 3 if world_size == 1 else 1
        call = f"rank={rank} and world_size={world_size}, where torch.distributed says 1 and 2"
        expect_equal(len({shard for shard, _, _ in found}), wanted, f"the number of shards with {call}")


def test_batches(answer):
    """In batches too, each example comes once, with a short batch at the end of each worker."""
    data = answer.ShardedDataset(range(5), Reader(5))
    for workers in (0, 2):
        batches = [shard.tolist() for shard, _, _ in loader_of(data, workers, batch_size=4)]
        call = f"a loader with batches of 4 and {workers} workers"
        expect_equal(sorted(itertools.chain(*batches)), sorted([*range(5)] * EACH), f"the shards of {call}")


def test_epochs(answer):
    """Each epoch gives everything again: persistent workers, other numbers of workers, or none."""
    read = Reader(5)
    data = answer.ShardedDataset(list(range(5)), read)
    loader = loader_of(data, 2, persistent_workers=True)
    for epoch in range(3):
        expect_epoch({(0, 2): list(loader)}, 5, f"epoch {epoch} of persistent workers")
    for workers in (0, 1, 0):
        stream = list(loader_of(data, workers))
        expect_epoch({(0, workers): stream}, 5, f"the same dataset with {workers} workers after that")
    expect_equal(read.opened.tolist(), [6] * 5, "how often each shard is opened in six epochs")


def test_at_once(answer):
    """Two iterators of one dataset, and two datasets, do not disturb each other."""
    data = answer.ShardedDataset([0, 1, 2], Reader(3))
    other = answer.ShardedDataset([2, 0], Reader(3), 1, 2)
    wanted = [(s, i, 0) for s in range(3) for i in range(EACH)]
    first, second = iter(data), iter(data)
    early = [next(first) for _ in range(4)]
    pairs = list(zip(first, second, strict=False))
    expect_equal([*early, *(a for a, _ in pairs)], wanted, "the first of two iterators at once")
    expect_equal([b for _, b in pairs], wanted[: len(pairs)], "the second of two iterators at once")
    expect_equal(list(other), [(0, i, 0) for i in range(EACH)], "another dataset, of rank 1 of 2")
    expect_equal(list(data), wanted, "the dataset after that")


def test_examples_as_they_are(answer):
    """Examples come as read gives them, from any iterable, also None, 0 and empty ones."""
    marker = object()
    content = {
        "generator": (x for x in (None, 0, marker)), "list": [None, "", []], "empty": (), "set": {7},
        "range": range(2), "last": iter([False, {}, None]),
    }  # fmt: skip
    yours = list(answer.ShardedDataset(list(content), content.__getitem__))
    wanted = [None, 0, marker, None, "", [], 7, 0, 1, False, {}, None]
    expect_equal(len(yours), len(wanted), "the number of examples, some of them None or empty")
    for place, (mine, right) in enumerate(zip(yours, wanted, strict=True)):
        expect_that(
            type(mine) is type(right) and mine == right, f"example {place} is another one", yours=mine
        )
    loader = loader_of(answer.ShardedDataset([3, 0, 2], range), 2)
    expect_equal(sorted(loader), [0, 0, 1, 1, 2], "shards of 3, 0 and 2 examples, with two workers")


def test_any_shards(answer):
    """Shards may be anything, hashable or not; one that is listed twice is two."""
    same = answer.ShardedDataset(["a", "b", "a", "a"], lambda shard: [shard, shard.upper()])
    for workers in (0, 2):
        expect_equal(
            sorted(loader_of(same, workers)), [*"AAABaaab"], f"shards a, b, a, a with {workers} workers"
        )
    ranks = [list(answer.ShardedDataset(["a", "a", "b", "a"], list, rank, 2)) for rank in range(2)]
    expect_equal(
        [len(mine) for mine in ranks], [2, 2], "how many of the shards a, a, b, a each of 2 ranks has"
    )
    bounds = answer.ShardedDataset([[0, 2], (2, 3), [3, 3]], lambda shard: range(*shard))
    for workers in (0, 2):
        call = f"shards that are lists and tuples, {workers} workers"
        expect_equal(sorted(loader_of(bounds, workers)), [0, 1, 2], call)


def test_nothing_ahead(answer):
    """A shard is opened when its first example is wanted, and may be endless."""
    opened = []

    def read(shard):
        opened.append(shard)
        for i in range(30):
            yield shard, i
        if shard == 2:
            raise CheckFailure("an endless shard is read ahead\n  wanted  one example at a time")

    data = answer.ShardedDataset([0, 1, 2], read)
    stream = iter(data)
    expect_equal(opened, [], "the shards that are open after iter(data)")
    expect_equal(next(stream), (0, 0), "the first example")
    expect_equal(opened, [0], "the shards that are opened for the first example")
    list(itertools.islice(stream, 29))
    expect_equal(opened, [0], "the shards that are opened for the first 30 examples")
    list(itertools.islice(stream, 31))
    expect_equal(opened, [0, 1, 2], "the shards that are opened for 61 examples")
    expect_equal(list(itertools.islice(stream, 28))[-1], (2, 28), "an example of an endless shard")

    def at_once(shard):  # no generator function: what is called is opened
        opened.append(shard)
        return iter(range(2))

    opened.clear()
    stream = iter(answer.ShardedDataset([0, 1, 2], at_once))
    for wanted in ([], [0], [0], [0, 1]):
        expect_equal(
            opened, wanted, "the shards that are open so far, where read opens them when it is called"
        )
        next(stream)

    opened.clear()
    for rank in (0, 1):
        list(answer.ShardedDataset([0, 1, 2, 3, 4], at_once, rank, 2))
    call = "all shards that two ranks open, where read opens them when it is called"
    expect_equal(sorted(opened), [0, 1, 2, 3, 4], call)


def missing(error, shard):
    """A read that is no generator: what it raises, it raises when it is called."""
    if shard == 2:
        raise error("shard 2 is missing")
    return [shard]


@pytest.mark.parametrize("workers", [0, 2])
def test_errors(answer, workers):
    """An error while a shard is opened or read reaches the caller, after the examples before it."""
    for bad, place in ((3, 2),) if workers else ((0, 0), (3, 0), (3, 2)):

        def read(shard, bad=bad, place=place):
            for i in range(EACH):
                if (shard, i) == (bad, place):
                    raise FileNotFoundError(f"shard {shard} ends too early")
                yield shard, i

        seen = []

        def loop(read=read, seen=seen):
            for example in loader_of(answer.ShardedDataset(range(4), read), workers):
                seen.append(tuple(example))

        call = f"a loader with {workers} workers, where shard {bad} breaks at example {place}"
        expect_raises(FileNotFoundError, loop, call, words="early")
        if not workers:
            for error in (FileNotFoundError, TypeError, EOFError, KeyError):
                lost = answer.ShardedDataset(range(4), functools.partial(missing, error))
                name = f"list(data), where read raises {error.__name__} for shard 2"
                expect_raises(error, lambda d=lost: list(d), name)
            expect_equal(len(seen), bad * EACH + place, f"the examples before the error, {call}")


def test_pickled(answer):
    """A dataset can be pickled, as for spawned workers, and is the same afterwards."""
    content = {name: [f"{name}{i}" for i in range(EACH)] for name in "abc"}
    wanted = sorted(itertools.chain(*content.values()))
    data = answer.ShardedDataset(list(content), content.__getitem__)
    try:
        data = pickle.loads(pickle.dumps(data))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        expect_that(False, "a ShardedDataset cannot be pickled", error=str(error))
    expect_equal(list(data), wanted, "the examples of a dataset that was pickled")
    loader = loader_of(data, 2, multiprocessing_context=PICKLED)
    expect_equal(sorted(loader), wanted, "the examples with two workers that get it by pickle")


@pytest.mark.slow
def test_spawned(answer):
    """Spawned workers, which import your file anew, share the shards in each of two epochs."""
    content = {shard: [(shard, i) for i in range(EACH)] for shard in range(5)}
    data = answer.ShardedDataset(list(content), content.__getitem__)
    for epoch, examples in enumerate(spawned_epochs(answer, data, batch_size=None, collate_fn=signed)):
        stream = [(*example, worker) for worker, example in examples]
        expect_epoch({(0, 2): stream}, 5, f"epoch {epoch} of two spawned workers")


def test_bad_rank(answer):
    """A rank that does not exist raises ValueError."""
    for rank, world_size in ((1, 1), (3, 2), (2, 2), (-1, 1), (-2, 3), (0, 0), (0, -1)):
        expect_raises(
            ValueError,
            lambda r=rank, w=world_size: answer.ShardedDataset([0, 1], range, r, w),
            f"ShardedDataset(…, rank={rank}, world_size={world_size})",
        )


def oracle(answer, gen):
    sizes = torch.randint(0, 6, (7,), generator=gen).tolist()
    shards = [torch.randint(10**6, (size,), generator=gen).tolist() for size in sizes]
    ranks = [loader_of(answer.ShardedDataset(shards, iter, rank, 2), 2) for rank in range(2)]
    return {
        "one process reads all": list(answer.ShardedDataset(shards, iter)),
        "two workers share": sorted(loader_of(answer.ShardedDataset(shards, iter), 2)),
        "two ranks share, with two workers each": sorted(itertools.chain(*ranks)),
    }
