"""What grades rank_shards: the real DistributedSampler, epochs, iterators, real workers, errors."""

from collections import Counter
from unittest import mock

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from grader.checks import expect_equal, expect_raises, expect_that, global_rng_untouched
from grader.checks.dataloader.workers import FORKED

LENGTHS = (0, 1, 2, 3, 4, 5, 7, 8, 12, 13)


def call_of(length, ranks, rank, **options):
    given = "".join(f", {name}={value}" for name, value in options.items())
    return f"ShardSampler({length}, {ranks}, {rank}{given})"


def real(length, ranks, rank, epoch=0, **options):
    """What the sampler of torch gives."""
    sampler = DistributedSampler(range(length), ranks, rank, **options)
    sampler.set_epoch(epoch)
    return list(sampler)


def expect_shard(answer, length, ranks, rank, epoch=None, **options):
    wanted = real(length, ranks, rank, epoch or 0, **options)
    sampler = answer.ShardSampler(length, ranks, rank, **options)
    call = call_of(length, ranks, rank, **options)
    if epoch is not None:
        sampler.set_epoch(epoch)
        call += f" in epoch {epoch}"
    expect_equal(len(sampler), len(wanted), f"len of {call}")
    expect_equal(list(sampler), wanted, f"list of {call}")


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 8])
def test_in_order(answer, ranks, drop_last):
    """Without shuffle every rank gets what DistributedSampler gives it, for lengths of all kinds."""
    for length in LENGTHS:
        for rank in range(ranks):
            expect_shard(answer, length, ranks, rank, shuffle=False, drop_last=drop_last)


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("ranks", [1, 2, 3, 8])
def test_shuffled(answer, ranks, drop_last):
    """With shuffle every rank gets what DistributedSampler gives it, for all seeds and epochs."""
    for length in LENGTHS:
        for rank in range(ranks):
            expect_shard(answer, length, ranks, rank, drop_last=drop_last)
            for epoch, seed in [(0, 3), (1, 0), (4, 9), (2, 3 * 2**30)]:
                expect_shard(answer, length, ranks, rank, epoch, seed=seed, drop_last=drop_last)


def test_shorter_than_the_ranks(answer):
    """Few examples are dealt over and over until every rank has one, or none with drop_last."""
    for length in (1, 2, 3):
        for ranks in (4, 7, 16):
            for rank in (0, 1, ranks - 2, ranks - 1):
                for options in ({"shuffle": False}, {"seed": 5}, {"seed": 5, "drop_last": True}):
                    expect_shard(answer, length, ranks, rank, **options)


@pytest.mark.parametrize("length,ranks", [(12, 4), (13, 4), (11, 4), (3, 4), (1, 1), (40, 3)])
def test_all_ranks_together(answer, length, ranks):
    """Over the ranks every index comes up once, but for the filling; with drop_last at most once."""
    for drop_last in (False, True):
        for epoch in (0, 5):
            samplers = [
                answer.ShardSampler(length, ranks, r, seed=2, drop_last=drop_last) for r in range(ranks)
            ]
            for sampler in samplers:
                sampler.set_epoch(epoch)
            read = Counter(index for sampler in samplers for index in sampler)
            each = length // ranks if drop_last else -(-length // ranks)
            call = f"{ranks} ranks with {length} examples, drop_last={drop_last}"
            expect_equal([len(sampler) for sampler in samplers], [each] * ranks, f"the lengths of {call}")
            expect_equal(sum(read.values()), each * ranks, f"the number of indices of {call}")
            times = set(read.values())
            allowed = {1} if length % ranks == 0 or drop_last else {1, 2}
            expect_that(times <= allowed, f"an index comes up {max(times, default=0)} times: {call}")
            expect_equal(set(read) <= set(range(length)), True, f"whether all indices of {call} exist")


def test_epochs(answer):
    """Every epoch has an order of its own, which comes back with the epoch; without shuffle all are alike."""
    for drop_last in (False, True):
        sampler = answer.ShardSampler(20, 3, 1, seed=3, drop_last=drop_last)
        for epoch in (0, 1, 2, 1, 0, 0, 7):
            sampler.set_epoch(epoch)
            for which in ("once", "again"):
                wanted = real(20, 3, 1, epoch, seed=3, drop_last=drop_last)
                call = f"list(sampler) {which}, after set_epoch({epoch}), drop_last={drop_last}"
                expect_equal(list(sampler), wanted, call)
    plain = answer.ShardSampler(5, 2, 1, shuffle=False)
    for epoch in (1, 4):
        plain.set_epoch(epoch)
        expect_equal(list(plain), [1, 3, 0], f"list(sampler) without shuffle, after set_epoch({epoch})")


def test_iterators(answer):
    """Two iterators do not disturb one another, and one that is under way does not mind a new epoch."""
    for options in ({"shuffle": False}, {"seed": 1}):
        sampler = answer.ShardSampler(11, 2, 0, **options)
        wanted, later = (real(11, 2, 0, epoch, **options) for epoch in (0, 4))
        first, second = iter(sampler), iter(sampler)
        mixed = [next(first), next(second), next(first)]
        expect_equal(mixed, [wanted[0], wanted[0], wanted[1]], "two iterators in turn")
        sampler.set_epoch(4)
        expect_equal([*mixed[::2], *first], wanted, "an iterator that was under way at set_epoch(4)")
        expect_equal(list(sampler), later, "list(sampler) after set_epoch(4)")
        expect_equal(list(second), wanted[1:], "the rest of an iterator that was under way")


def test_length_alone(answer):
    """len is the same before, during and after an iteration, in any epoch."""
    for length, ranks, drop_last, wanted in [
        (10, 3, False, 4),
        (10, 3, True, 3),
        (2, 3, True, 0),
        (0, 3, False, 0),
    ]:
        sampler = answer.ShardSampler(length, ranks, 0, drop_last=drop_last)
        call = f"len(ShardSampler({length}, {ranks}, 0, drop_last={drop_last}))"
        expect_equal(len(sampler), wanted, call)
        under_way = iter(sampler)
        next(under_way, None)
        sampler.set_epoch(3)
        expect_equal(len(sampler), wanted, f"{call} while iterating")
        list(under_way)
        expect_equal(len(sampler), wanted, f"{call} afterwards")
    expect_equal(len(answer.ShardSampler(100_001, 4, 3)), 25_001, "len(ShardSampler(100_001, 4, 3))")


def test_global_stream(answer):
    """torch's global random stream is left where it is, and has no say in the order."""
    torch.manual_seed(5)
    seeds = mock.patch.object(torch, "manual_seed", wraps=torch.manual_seed)  # on every device
    with global_rng_untouched("ShardSampler"), seeds as seeded:
        sampler = answer.ShardSampler(9, 2, 0, seed=4)
        sampler.set_epoch(2)
        first = list(sampler)
    expect_that(
        not seeded.called,
        "ShardSampler seeds the global random stream with torch.manual_seed, if only for a while",
        wanted="a generator of its own",
    )
    torch.manual_seed(6)
    expect_equal(first, real(9, 2, 0, 2, seed=4), "list(sampler)")
    expect_equal(list(sampler), first, "list(sampler) after torch.manual_seed(6)")


def test_independent_samplers(answer):
    """The epoch of one sampler is not that of another."""
    first, second = answer.ShardSampler(9, 2, 0), answer.ShardSampler(9, 2, 1, seed=8)
    first.set_epoch(3)
    expect_equal(list(second), real(9, 2, 1, 0, seed=8), "list(second) after first.set_epoch(3)")
    second.set_epoch(1)
    expect_equal(list(first), real(9, 2, 0, 3), "list(first) after second.set_epoch(1)")
    expect_equal(len(answer.ShardSampler(4, 2, 0)), 2, "len of a third")
    expect_equal(len(first), 5, "len(first) after a third was made")


def test_plain_ints(answer):
    """Indices are plain ints, which a list takes as well."""
    for options in ({"shuffle": False}, {"shuffle": True}, {"drop_last": True}):
        for index in answer.ShardSampler(5, 2, 1, **options):
            expect_equal(type(index).__name__, "int", f"the type of an index with {options}")
            expect_that("abcde"[index] != "", "an index is no place in a string")


def test_by_hand(answer):
    """DistributedSampler does none of the work."""
    with (
        mock.patch.object(DistributedSampler, "__init__", autospec=True) as made,
        mock.patch.object(DistributedSampler, "__iter__", autospec=True) as iterated,
    ):
        try:
            for shuffle in (True, False):
                sampler = answer.ShardSampler(5, 2, 1, shuffle=shuffle)
                sampler.set_epoch(1)
                list(sampler)
        except NotImplementedError:
            raise
        except Exception:
            used = True
        else:
            used = isinstance(sampler, DistributedSampler)
    expect_that(not (used or made.called or iterated.called), "DistributedSampler is ruled out, and used")


class Squares(Dataset):
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return index, index**2


@pytest.mark.parametrize("workers", [0, 2])
def test_real_workers(answer, workers):
    """Loaders with real workers, one for each rank, read every example once, in a new order each epoch."""
    orders = []
    samplers = [answer.ShardSampler(13, 2, rank, seed=6) for rank in range(2)]
    loaders = [
        DataLoader(
            Squares(13),
            batch_size=3,
            sampler=sampler,
            num_workers=workers,
            persistent_workers=workers > 0,
            multiprocessing_context=FORKED if workers else None,
        )
        for sampler in samplers
    ]
    for epoch in range(2):
        read = []
        for rank, (sampler, loader) in enumerate(zip(samplers, loaders, strict=True)):
            sampler.set_epoch(epoch)
            batches = list(loader)
            expect_equal(len(batches), len(loader), f"batches of rank {rank}, and len(loader)")
            indices = torch.cat([batch[0] for batch in batches])
            expect_equal(torch.cat([batch[1] for batch in batches]), indices**2, f"what rank {rank} reads")
            expect_equal(indices.tolist(), real(13, 2, rank, epoch, seed=6), f"what rank {rank} reads")
            read += indices.tolist()
        expect_equal(sorted(set(read)), list(range(13)), f"the examples read in epoch {epoch}")
        orders.append(read)
    expect_that(orders[0] != orders[1], "two epochs have the same order")


def test_bad_numbers(answer):
    """Ranks and lengths that cannot be raise ValueError when the sampler is made."""
    for length, ranks, rank in [
        (5, 2, 2),
        (5, 2, -1),
        (5, 1, 1),
        (5, 0, 0),
        (5, -2, -1),
        (5, -1, 0),
        (-1, 2, 0),
        (0, 2, 5),
        (0, 0, 0),
    ]:
        for shuffle in (False, True):
            call = call_of(length, ranks, rank, shuffle=shuffle)
            expect_raises(
                ValueError,
                lambda bad=(length, ranks, rank), s=shuffle: answer.ShardSampler(*bad, shuffle=s),
                call,
            )


def oracle(answer, gen):
    results = []
    for _ in range(12):
        length, ranks, seed, epoch = (
            int(torch.randint(*r, (), generator=gen)) for r in [(0, 30), (1, 7), (0, 99), (0, 9)]
        )
        for drop_last in (False, True):
            sampler = answer.ShardSampler(length, ranks, ranks // 2, seed=seed, drop_last=drop_last)
            sampler.set_epoch(epoch)
            results.append([len(sampler), list(sampler)])
    return results
