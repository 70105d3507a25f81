"""What grades rank_shards: the real DistributedSampler, epochs, real workers; iterators, errors."""

from unittest import mock

import pytest
import torch
from torch.utils.data import DataLoader, DistributedSampler

from grader.checks import expect_equal, expect_raises, expect_that, global_rng_untouched
from grader.checks.contract import Contract, given, values
from grader.checks.dataloader.workers import FORKED


def indices(answer, length, ranks, rank, epoch=0, **options):
    sampler = answer.ShardSampler(length, ranks, rank, **options)
    sampler.set_epoch(epoch)
    return torch.tensor([int(index) for index in sampler], dtype=torch.int64)


def real(length, ranks, rank, epoch=0, **options):
    """What the sampler of torch gives."""
    sampler = DistributedSampler(range(length), ranks, rank, **options)
    sampler.set_epoch(epoch)
    return torch.tensor(list(sampler), dtype=torch.int64)


def order_of(length, epoch, seed, shuffle):
    g = torch.Generator().manual_seed(seed + epoch)
    return torch.randperm(length, generator=g) if shuffle else torch.arange(length)


def own_order(length, ranks, rank, epoch=0, seed=0, **options):
    return real(length, ranks, rank, epoch, seed=seed + rank, **options)


def blocks(length, ranks, rank, epoch=0, seed=0, shuffle=True, drop_last=False):
    each = length // ranks if drop_last else -(-length // ranks)
    return order_of(length, epoch, seed, shuffle).repeat(2)[rank * each :][:each]


def not_filled(length, ranks, rank, epoch=0, seed=0, shuffle=True, drop_last=False):
    return order_of(length, epoch, seed, shuffle)[rank::ranks]


def filled_first(length, ranks, rank, epoch=0, seed=0, shuffle=True, drop_last=False):
    total = (length // ranks if drop_last else -(-length // ranks)) * ranks
    return (order_of(total, epoch, seed, shuffle) % length)[rank::ranks]


def without_epoch(length, ranks, rank, epoch=0, **options):
    return real(length, ranks, rank, **options)


def draw(gen, *, ranks=4, **options):
    length, seed = (int(torch.randint(*r, (), generator=gen)) for r in [(40, 60), (0, 99)])
    length += length % ranks == 0
    return given(length, ranks, int(torch.randint(1, ranks, (), generator=gen)), seed=seed, **options)


def epochs(gen):
    return {
        "in order": draw(gen, shuffle=False),
        "in order, with drop_last": draw(gen, ranks=3, shuffle=False, drop_last=True),
        "shuffled": draw(gen),
        "shuffled, with drop_last": draw(gen, ranks=5, drop_last=True),
        "shuffled, in epoch 3": draw(gen, epoch=3),
    }


def few(gen):
    rank = lambda: int(torch.randint(7, (), generator=gen))  # noqa: E731
    return {f"{n} examples for 7 ranks": given(n, 7, rank(), seed=5) for n in (0, 1, 2, 3)}


contract = Contract(
    "ShardSampler(length, ranks, rank)",
    use=indices,
    reference=real,
    inputs=epochs,
    suspects={
        "each rank shuffles by a seed of its own: all need one order": own_order,
        "each rank takes a block: it takes every ranks-th index": blocks,
        "nothing is filled up or cut off: ranks get unequal numbers": not_filled,
        "the order is filled up before it is shuffled": filled_first,
        "the epoch has no say in the order: the seed is seed + epoch": without_epoch,
        "drop_last is ignored": lambda *args, drop_last=False, **others: real(*args, **others),
    },
    job=[values(title="Every rank gets what DistributedSampler gives it, in order and shuffled.")],
    fine=[
        values(
            inputs=few,
            name="fewer_examples_than_ranks",
            title="Few examples are dealt over and over until every rank has one; of none there are none.",
        )
    ],
)


def test_all_ranks_together(answer):
    """Together the ranks read every example, and none more than once but for the filling."""
    for drop_last in (False, True):
        shards = [indices(answer, 14, 4, r, 5, seed=2, drop_last=drop_last).tolist() for r in range(4)]
        each, call = 3 if drop_last else 4, f"ShardSampler(14, 4, rank, drop_last={drop_last})"
        expect_equal(
            [len(shard) for shard in shards], [each] * 4, f"how many indices the ranks get of {call}"
        )
        read = sorted(index for shard in shards for index in shard)
        expect_that(
            len(set(read)) == min(len(read), 14),
            f"the ranks read some examples twice and others never: {call}",
            yours=read,
            likely="every rank shuffles in an order of its own, or takes indices that another has",
        )


def test_length(answer):
    """len is the number of indices that a rank reads."""
    for length, drop_last, wanted in [(10, False, 4), (10, True, 3), (9, True, 3), (100_001, False, 33_334)]:
        sampler = answer.ShardSampler(length, 3, 1, drop_last=drop_last)
        call = f"len(ShardSampler({length}, 3, 1, drop_last={drop_last}))"
        told = f"{call} is not the number of indices that one rank reads"
        expect_that(len(sampler) == wanted, told, yours=len(sampler), wanted=wanted)


def test_epochs_come_back(answer):
    """An epoch has the same order each time that it is read, also after another."""
    sampler = answer.ShardSampler(20, 3, 1, seed=3)
    for epoch in (0, 2, 1, 0, 0):
        sampler.set_epoch(epoch)
        once, again = ([int(i) for i in sampler] for _ in range(2))
        told = f"list(sampler) is another one when it is read again, after set_epoch({epoch})"
        expect_that(
            once == again, told, likely="a generator goes on from where it was: make it anew each time"
        )
        wanted = real(20, 3, 1, epoch, seed=3).tolist()
        expect_equal(once, wanted, f"list(sampler) after set_epoch({epoch})")


@pytest.mark.parametrize("workers", [0, 2])
def test_real_workers(answer, workers):
    """Loaders, one for each rank, read all examples in every epoch, with workers and without."""
    start = FORKED if workers else None
    samplers = [answer.ShardSampler(13, 2, rank, seed=6) for rank in range(2)]
    for epoch in range(2):
        for rank, sampler in enumerate(samplers):
            sampler.set_epoch(epoch)
            squares = [i * i for i in range(13)]
            loader = DataLoader(
                squares, 3, sampler=sampler, num_workers=workers, multiprocessing_context=start
            )
            wanted = [i * i for i in real(13, 2, rank, epoch, seed=6).tolist()]
            expect_equal(torch.cat(list(loader)).tolist(), wanted, f"what rank {rank} reads in epoch {epoch}")


def test_by_hand(answer):
    """DistributedSampler does none of the work."""
    with (
        mock.patch.object(DistributedSampler, "__init__", autospec=True) as made,
        mock.patch.object(DistributedSampler, "__iter__", autospec=True) as iterated,
    ):
        try:
            sampler = answer.ShardSampler(5, 2, 1)
            list(sampler)
        except NotImplementedError:
            raise
        except Exception:
            used = True
        else:
            used = isinstance(sampler, DistributedSampler)
    expect_that(not (used or made.called or iterated.called), "DistributedSampler is ruled out, and used")


@pytest.mark.fine
def test_iterators(answer):
    """Two iterators do not disturb one another, and one that has begun does not mind a new epoch."""
    sampler = answer.ShardSampler(11, 2, 0, seed=1)
    wanted = real(11, 2, 0, seed=1).tolist()
    first, second = iter(sampler), iter(sampler)
    mixed = [next(first), next(second), next(first)]
    expect_equal([int(i) for i in mixed], [wanted[0], wanted[0], wanted[1]], "two iterators in turn")
    sampler.set_epoch(4)
    expect_equal(len(sampler), 6, "len(sampler) while it is read")
    rest = [int(i) for i in first]
    expect_equal(rest, wanted[2:], "the rest of an iterator that had begun before set_epoch(4)")


@pytest.mark.fine
def test_plain_ints(answer):
    """Indices are plain ints, which a list takes as well."""
    for shuffle in (True, False):
        for index in answer.ShardSampler(5, 2, 1, shuffle=shuffle):
            expect_equal(type(index).__name__, "int", f"the type of an index with shuffle={shuffle}")


@pytest.mark.fine
def test_global_stream(answer):
    """torch's global random stream is left alone."""
    seeds = mock.patch.object(torch, "manual_seed", wraps=torch.manual_seed)
    with global_rng_untouched("ShardSampler"), seeds as seeded:
        list(answer.ShardSampler(9, 2, 0, seed=4))
    told = "ShardSampler seeds the global random stream with torch.manual_seed, if only for a while"
    expect_that(not seeded.called, told, wanted="a generator of its own")


@pytest.mark.fine
def test_bad_numbers(answer):
    """Ranks and lengths that cannot be raise ValueError when the sampler is made."""
    for bad in [(5, 2, 2), (5, 2, -1), (5, 0, 0), (-1, 2, 0)]:
        expect_raises(ValueError, lambda bad=bad: answer.ShardSampler(*bad), f"ShardSampler{bad}")
