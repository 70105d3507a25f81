"""What grades deterministic_augment: items, order, workers, epochs; many triples, workers that stay."""

import builtins
import random
from unittest import mock

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from grader.checks import expect_equal, expect_that
from grader.checks.dataloader.workers import FORKED, PICKLED, imported_anew

STREAM = "the numbers come from one stream: make a generator for each item, seeded anew"
WORKERS = "the worker, or what it has read before, has a say in the seed"
STAYS = "workers that stay have a copy of the epoch: keep it in a tensor in shared memory"
# More workers than processors: a machine may have only one.
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


def drawn(x, generator):
    """The item, and three numbers of its generator."""
    return [x, *torch.randint(2**40, (3,), generator=generator).tolist()]


def made(answer, seed=3, epoch=0, size=6):
    data = answer.SeededAugment(range(size), drawn, seed)
    if epoch:
        data.set_epoch(epoch)
    return data


def read(data, workers, order, **options):
    """The items of some epochs, in that order."""
    start = options.pop("start", FORKED) if workers else None
    return DataLoader(
        data, None, sampler=order, num_workers=workers, multiprocessing_context=start, **options
    )


def expect_apart(answer, triples, likely=""):
    """Fail if two of these triples of seed, epoch and index get the same numbers."""
    found = {}
    for seed, epoch, index in triples:
        _, *numbers = made(answer, seed, epoch, size=2**32)[index]
        same = found.setdefault(tuple(numbers), (seed, epoch, index))
        expect_that(
            same == (seed, epoch, index),
            "two items have the same random numbers",
            yours=f"seed, epoch and index {same} and {(seed, epoch, index)} get {numbers}",
            likely=likely,
        )


def test_items(answer, gen):
    """An item is what transform makes of the item of the dataset, and there are as many."""
    rows = torch.randn(5, 3, generator=gen)
    data = answer.SeededAugment(rows, lambda x, generator: (10 * x, generator.device.type), 1)
    expect_equal(len(data), 5, "len(data)")
    for i in (3, 0):
        expect_equal(
            data[i], (10 * rows[i], "cpu"), f"data[{i}], 10 times its row and the generator's device"
        )


def test_order(answer):
    """The order in which items are read does not matter, nor how often."""
    data = made(answer)
    first = [data[i] for i in range(6)]
    for i in (5, 2, 2, 0):
        told = f"data[{i}] has other random numbers when it is read again"
        expect_that(data[i] == first[i], told, yours=data[i], wanted=first[i], likely=STREAM)
    data = made(answer)
    expect_that(data[4] == first[4], "data[4] depends on what was read before it", likely=STREAM)


@pytest.mark.parametrize("workers", [1, 3])
def test_workers(answer, workers):
    """Workers, however many, get what one process gets."""
    order = [4, 0, 3, 1, 5, 2]
    for epoch in (0, 2):
        wanted = [made(answer, epoch=epoch)[i] for i in order]
        yours = list(read(made(answer, epoch=epoch), workers, order))
        told = f"other random numbers with {workers} workers, in epoch {epoch}"
        expect_that(yours == wanted, told, yours=yours[0], wanted=wanted[0], likely=WORKERS)


def test_others(answer):
    """Each index, epoch and seed has numbers of its own."""
    sums = "a sum gives different triples the same seed: hash the three, or use numpy.random.SeedSequence"
    expect_apart(answer, [(3, 0, index) for index in range(6)], "the index has no say in the seed")
    expect_apart(answer, [(3, epoch, 2) for epoch in range(6)], "the epoch has no say in the seed")
    expect_apart(answer, [(seed, 0, 2) for seed in range(6)], "the seed has no say")
    expect_apart(answer, [(3, epoch, index) for epoch in range(5) for index in range(5)], sums)


def test_epochs_come_back(answer):
    """An epoch that is chosen again has its numbers again, in a new dataset, too."""
    data = made(answer)
    found = {epoch: (data.set_epoch(epoch), data[1])[1] for epoch in (0, 4, 1)}
    for epoch in (4, 0, 1):
        data.set_epoch(epoch)
        for one in (data, made(answer, epoch=epoch)):
            told = f"data[1] has other numbers when epoch {epoch} is chosen again"
            expect_that(one[1] == found[epoch], told, yours=one[1], wanted=found[epoch])


@pytest.mark.fine
def test_triples(answer):
    """Large seeds, epochs and indices have numbers of their own as well."""
    sizes = (0, 1, 2, 10, 100, 1000, 10_000, 2**16, 2**20, 2**32 - 1)
    triples = [(seed, epoch, i) for seed in (*sizes[:5], sizes[-1]) for epoch in sizes for i in sizes]
    likely = "what decides the seed adds up to the same, or lies above the lower 32 bits"
    expect_apart(answer, triples, likely)


@pytest.mark.fine
def test_other_processes(answer):
    """A run in another process has the same numbers, where texts have other hashes."""
    wanted, real = [made(answer, epoch=2)[i] for i in range(4)], builtins.hash

    def other(value):
        texts = [
            part
            for part in (value if isinstance(value, tuple) else (value,))
            if isinstance(part, (str, bytes))
        ]
        return real((real(value), "another process")) if texts else real(value)

    with mock.patch.object(builtins, "hash", other):
        yours = [made(answer, epoch=2)[i] for i in range(4)]
    likely = "hash of a text is another one in each process"
    expect_that(yours == wanted, "another process gets other random numbers", likely=likely)


@pytest.mark.fine
def test_workers_that_stay(answer):
    """set_epoch reaches workers that stay from epoch to epoch."""
    for start in (FORKED, PICKLED):
        data, wanted = made(answer), made(answer)
        loader = read(data, 2, range(6), persistent_workers=True, start=start)
        for epoch in (0, 3, 1):
            data.set_epoch(epoch), wanted.set_epoch(epoch)
            right, yours = [wanted[i] for i in range(6)], list(loader)
            told = f"set_epoch({epoch}) does not reach workers that stay"
            expect_that(yours == right, told, yours=yours[0], wanted=right[0], likely=STAYS)


@pytest.mark.fine
def test_last(answer):
    """Index -1 is the last item, with its numbers."""
    data = made(answer)
    for i in (-1, -6):
        expect_equal(data[i], data[i + 6], f"data[{i}], of six items")


def streams():
    name, keys, *rest = np.random.get_state()
    return {
        "torch": torch.get_rng_state().tolist(),
        "NumPy": [name, keys.tolist(), *rest],
        "Python": random.getstate(),
    }


@pytest.mark.fine
def test_global_streams(answer):
    """The global random streams are afterwards where they were."""
    before, data = streams(), made(answer, epoch=1)
    data[1], data[2]
    for name, stream in streams().items():
        expect_that(stream == before[name], f"data[1] leaves the global random stream of {name} elsewhere")


@pytest.mark.fine
def test_pickled(answer):
    """A dataset can be pickled, and gives the same where it arrives."""
    data = made(answer, epoch=2)
    wanted = [data[i] for i in range(6)]
    _, there = imported_anew(answer, "dataset", data)
    expect_equal([there[i] for i in range(6)], wanted, "the items of the dataset after pickling")


def oracle(answer, gen):
    def labelled(gen, transform):
        rows = torch.randint(10**6, (7,), generator=gen)
        data = answer.SeededAugment(rows, transform, int(rows[0]))
        return [data[i] for i in range(7)]

    def epochs(gen):
        """Which readings have the same numbers, each told by the first that has them."""
        seed, *order = torch.randint(5, (40,), generator=gen).tolist()
        data, found = made(answer, seed), []
        for epoch, index in zip(order[::2], order[1::2], strict=False):
            data.set_epoch(epoch)
            found.append(data[index])
        return [found.index(one) for one in found]

    return {
        "items that are doubled": lambda gen: labelled(gen, lambda x, generator: 2 * x),
        "rows whose generators give random numbers": lambda gen: labelled(
            gen, lambda x, generator: x + 0 * torch.rand((), generator=generator)
        ),
        "which readings of some epochs are alike": epochs,
    }
