"""What grades bucket_batches: buckets, sizes, orders, epochs; iterators, kinds of lengths, streams."""

import itertools
import random

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from grader.checks import expect_equal, expect_raises, expect_that

LENGTHS = torch.randint(100, (60,), generator=torch.Generator().manual_seed(7)).tolist()


def epoch_of(sampler, epoch=None):
    """The batches of an epoch, as lists of ints."""
    if epoch is not None:
        sampler.set_epoch(epoch)
    return [[int(index) for index in batch] for batch in sampler]


def drawn(gen, count=40):
    return torch.randint(1, 90, (count,), generator=gen).tolist()


def inside(batches):
    """What lies together, whatever the order of batches and in them."""
    return sorted(sorted(batch) for batch in batches)


@pytest.mark.parametrize(("batch_size", "width"), [(4, 10), (3, 25), (7, 100), (5, 1)])
def test_buckets(answer, gen, batch_size, width):
    """Each index comes once, in batches of one bucket each."""
    lengths, call = drawn(gen), f"40 lengths, batch_size={batch_size}, width={width}"
    sampler = answer.BucketBatches(lengths, batch_size, width, seed=3)
    for epoch in (0, 1):
        batches = epoch_of(sampler, epoch)
        seen = sorted(index for batch in batches for index in batch)
        lost = sorted(set(range(40)) - set(seen))
        expect_that(not lost, f"some indices never come: {call}", yours=f"not among them: {lost}")
        expect_that(len(seen) == 40, f"some indices come more than once: {call}", yours=seen)
        for batch in batches:
            found = [lengths[index] for index in batch]
            told = f"a batch holds lengths of several buckets: {call}"
            expect_that(len({n // width for n in found}) == 1, told, yours=f"lengths {found}")


@pytest.mark.parametrize(("batch_size", "width"), [(4, 20), (1, 50), (50, 30)])
def test_sizes(answer, gen, batch_size, width):
    """Batches are full but for one in each bucket, and len counts them."""
    lengths, call = drawn(gen), f"40 lengths, batch_size={batch_size}, width={width}"
    sampler = answer.BucketBatches(lengths, batch_size, width)
    batches = epoch_of(sampler)
    for bucket in sorted({n // width for n in lengths}):
        count = sum(n // width == bucket for n in lengths)
        whole, rest = divmod(count, batch_size)
        wanted = [batch_size] * whole + [rest] * (rest > 0)
        yours = sorted((len(b) for b in batches if lengths[b[0]] // width == bucket), reverse=True)
        expect_equal(yours, wanted, f"the sizes of the batches of a bucket of {count}, {call}")
    mistakes = {
        "as if there were one bucket: each may have a batch that is not full": lambda: -(-40 // batch_size),
        "batches that are not full count as well": lambda: sum(len(b) == batch_size for b in batches),
        "it is the number of batches, not of indices": lambda: 40,
    }
    expect_equal(len(sampler), len(batches), f"len(BucketBatches(…)) of {call}", suspects=mistakes)


def test_order_of_batches(answer):
    """Batches come in a random order, not from short to long."""
    firsts = set()
    for seed in range(12):
        batches = epoch_of(answer.BucketBatches(LENGTHS, 3, 10, seed))
        order = [LENGTHS[batch[0]] // 10 for batch in batches]
        runs = 1 + sum(a != b for a, b in itertools.pairwise(order))
        told = "batches of one bucket come one behind the other"
        expect_that(runs > 11, told, yours=f"buckets {order}", likely="shuffle the batches of all buckets")
        firsts.add(order[0])
    told = "the first batch is of the same few buckets with all seeds"
    expect_that(len(firsts) > 3, told, yours=sorted(firsts), likely="the seed has no say in the order")


def test_who_is_together(answer):
    """Each epoch brings other sequences together, and another order of batches."""
    sampler = answer.BucketBatches(LENGTHS, 3, 20, seed=5)
    epochs = [epoch_of(sampler, epoch) for epoch in range(5)]
    together = len({str(inside(batches)) for batches in epochs})
    likely = "batches are cut before the indices are shuffled within their bucket"
    ignored = all(batches == epochs[0] for batches in epochs)
    if ignored:
        likely = "the epoch has no say in the order, or nothing is random"
    told = "the same sequences are together in two epochs"
    expect_that(together == 5, told, yours=f"{together} ways in 5 epochs", likely=likely)


def test_repeats(answer):
    """The same seed and epoch give the same batches again, and another seed others."""
    for seed, epoch in ((0, 0), (7, 2)):
        one, other = (epoch_of(answer.BucketBatches(LENGTHS, 4, 20, seed), epoch) for _ in range(2))
        torch.rand(1), random.random(), np.random.rand()
        told = f"a second BucketBatches with seed={seed} gives other batches in epoch {epoch}"
        likely = "the order comes from a stream that seed and epoch do not decide"
        expect_that(one == other, told, yours=other[:3], wanted=one[:3], likely=likely)
    seeds = {str(epoch_of(answer.BucketBatches(LENGTHS, 4, 20, seed))) for seed in range(5)}
    expect_equal(len(seeds), 5, "the number of distinct epochs for five seeds")


def test_in_a_loader(answer, gen):
    """A DataLoader takes it as batch_sampler."""
    lengths = drawn(gen, 11)
    sampler = answer.BucketBatches(lengths, 2, 30, seed=1)
    rows = [torch.full((n,), i) for i, n in enumerate(lengths)]
    loader = DataLoader(rows, batch_sampler=sampler, collate_fn=lambda batch: [int(row[0]) for row in batch])
    found = list(loader)
    expect_equal(inside(found), inside(epoch_of(sampler)), "the rows of the loader's batches, sorted")
    expect_equal(len(loader), len(found), "len of the loader")


@pytest.mark.fine
def test_iterators(answer):
    """An epoch is the same when it is iterated twice, even at once."""
    sampler = answer.BucketBatches(LENGTHS, 3, 20, seed=2)
    for epoch in (0, 3):
        first = epoch_of(sampler, epoch)
        told = f"epoch {epoch} has other batches when it is iterated again"
        likely = "a list that is shuffled in place, or a stream that goes on: begin each time from the same"
        expect_that(epoch_of(sampler) == first, told, likely=likely)
        pairs = [(list(map(int, a)), list(map(int, b))) for a, b in zip(sampler, sampler, strict=True)]
        expect_equal([a for a, _ in pairs], first, "the first of two iterators at once")
        expect_equal([b for _, b in pairs], first, "the second of two iterators at once")


@pytest.mark.fine
def test_kinds_of_lengths(answer):
    """Lengths may be an array or a tensor, which stay as they are, and there may be none."""
    wanted = epoch_of(answer.BucketBatches(LENGTHS, 4, 20, 1))
    for lengths in (torch.tensor(LENGTHS), np.array(LENGTHS), list(LENGTHS)):
        kind = type(lengths).__name__
        yours = epoch_of(answer.BucketBatches(lengths, 4, 20, 1))
        expect_equal(yours, wanted, f"the batches of lengths that are a {kind}")
        expect_equal(list(map(int, lengths)), LENGTHS, f"the lengths afterwards, a {kind}")
    empty = answer.BucketBatches([], 4, 20)
    expect_equal((len(empty), list(empty)), (0, []), "len and batches without any lengths")


@pytest.mark.fine
def test_plain_ints(answer):
    """Indices are plain ints, and batches lists."""
    batch = next(iter(answer.BucketBatches(LENGTHS, 4, 20)))
    kinds = [type(batch).__name__, *sorted({type(index).__name__ for index in batch})]
    expect_equal(kinds, ["list", "int"], "the types of a batch and its indices")


@pytest.mark.fine
def test_global_streams(answer):
    """The global random streams are left where they are."""

    def streams():
        return {
            "torch": torch.get_rng_state().tolist(),
            "NumPy": [*np.random.get_state()[1].tolist(), np.random.get_state()[2]],
            "Python": random.getstate(),
        }

    before = streams()
    epoch_of(answer.BucketBatches(LENGTHS, 4, 20, 1), 2)
    for name, stream in streams().items():
        expect_that(
            stream == before[name], f"BucketBatches leaves the global random stream of {name} elsewhere"
        )


@pytest.mark.fine
def test_seeds_and_epochs(answer):
    """No two of some seeds and epochs give the same batches."""
    found = {}
    for seed in range(4):
        for epoch in range(4):
            batches = str(epoch_of(answer.BucketBatches(LENGTHS, 4, 20, seed), epoch))
            same = found.setdefault(batches, (seed, epoch))
            told = "two pairs of seed and epoch give the same batches"
            expect_that(
                same == (seed, epoch), told, yours=f"{same} and {(seed, epoch)}", likely="their sum decides"
            )


@pytest.mark.fine
@pytest.mark.parametrize(("batch_size", "width"), [(0, 5), (-1, 5), (3, 0), (3, -2)])
def test_errors(answer, batch_size, width):
    """ValueError for a batch_size or a width below 1."""
    call = f"BucketBatches([3], {batch_size}, {width})"
    expect_raises(ValueError, lambda: answer.BucketBatches([3], batch_size, width), call)


def oracle(answer, gen):
    def made(gen, batch_size, width):
        lengths = drawn(gen, 50)
        sampler = answer.BucketBatches(lengths, batch_size, width, seed=4)
        return lengths, sampler, epoch_of(sampler, 1)

    def all_lengths(gen):
        lengths, _, batches = made(gen, 4, 15)
        return sorted(lengths[i] for batch in batches for i in batch)

    def buckets(gen):
        """The bucket and the size of each batch, sorted."""
        lengths, _, batches = made(gen, 4, 15)
        return sorted(
            [min(lengths[i] for i in b) // 15, max(lengths[i] for i in b) // 15, len(b)] for b in batches
        )

    def spread(gen):
        """Whole buckets, where a batch may hold any number."""
        lengths, _, batches = made(gen, 100, 25)
        return sorted(sorted(lengths[i] for i in b) for b in batches)

    return {
        "the lengths of an epoch, sorted": all_lengths,
        "the buckets and sizes of batches": buckets,
        "batches of whole buckets": spread,
        "the number of batches": lambda gen: [
            len(made(gen, n, 12)[1]) for n in (2, 3, 5, 7) for _ in range(5)
        ],
    }
