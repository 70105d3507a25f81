"""What grades worker_seeding: real workers, epochs, runs, seeds, global streams, the noise itself."""

import builtins
import math
import os
import pickle
import random

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, StackDataset

from grader.checks import expect_copy, expect_equal, expect_raises, expect_that, unchanged
from grader.checks.dataloader.workers import FORKED, PICKLED, spawned_epochs

STEP = 1000.0


def recordings(count):
    """Recordings that can be told from one another under their noise."""
    return (STEP * torch.arange(count, dtype=torch.float64))[:, None].repeat(1, 3)


def loader_of(dataset, workers, *, base=5, persistent=False, start=FORKED, **options):
    return DataLoader(
        dataset,
        num_workers=workers,
        persistent_workers=persistent,
        multiprocessing_context=start if workers else None,
        generator=torch.Generator().manual_seed(base),
        **options,
    )


def noise_of(readings, count, call):
    """The noise of one epoch in the order of the recordings, each of which was read once."""
    read = (readings.mean(1) / STEP).round().long()
    expect_equal(sorted(read.tolist()), list(range(count)), f"the recordings that {call} reads")
    return readings - STEP * read[:, None]


def epochs(answer, workers, *, seed=0, base=5, count=9, epochs=1, peek=0, **options):
    """The noise of some epochs, one after the other: (readings, samples)."""
    torch.manual_seed(base)
    dataset = answer.NoisyRecordings(recordings(count), 2.0, seed)
    call = f"an epoch with {workers} workers"
    peeked = [dataset[i] - STEP * i for i in range(peek)]
    loader = loader_of(dataset, workers, base=base, batch_size=2, **options)
    read = [noise_of(torch.cat(list(loader)), count, call) for _ in range(epochs)]
    return torch.cat([*(x[None] for x in peeked), *read])


def repeated(noise, other=None):
    """A pair of readings with the same noise, or None."""
    other_noise = noise if other is None else other
    same = (noise[:, None] - other_noise[None]).abs().amax(-1) < 1e-6
    if other is None:
        same = same.triu(1)
    pairs = same.nonzero().tolist()
    return tuple(pairs[0]) if pairs else None


def expect_fresh(noise, where):
    pair = repeated(noise)
    expect_that(
        pair is None,
        f"two readings have the same noise, {where}",
        yours=f"readings {pair[0]} and {pair[1]} both get {noise[pair[0]].tolist()}" if pair else "",
        wanted="fresh noise for each reading",
    )


@pytest.mark.filterwarnings("ignore:This DataLoader will create")
@pytest.mark.parametrize("workers", [0, 3])
def test_within_an_epoch(answer, workers):
    """Within an epoch no two recordings get the same noise, however many workers read them."""
    expect_fresh(epochs(answer, workers), f"with {workers} workers")


@pytest.mark.parametrize("workers,persistent", [(0, False), (1, False), (2, False), (2, True)])
def test_epochs_differ(answer, workers, persistent):
    """Every epoch brings other noise, whether workers are started anew or stay alive."""
    noise = epochs(answer, workers, epochs=2, count=5, persistent=persistent)
    expect_fresh(noise, f"in 2 epochs of 5, with {workers} workers, persistent_workers={persistent}")


def test_same_recording_again(answer):
    """A recording that is read several times in an epoch gets other noise each time."""
    dataset = answer.NoisyRecordings(torch.zeros(3, 4, dtype=torch.float64), 1.0)
    for workers in (0, 2):
        noise = torch.cat(list(loader_of(dataset, workers, sampler=[2] * 5)))
        expect_fresh(noise, f"where recording 2 is read 5 times, with {workers} workers")
    expect_fresh(torch.stack([dataset[0] for _ in range(4)]), "in four readings of dataset[0]")


@pytest.mark.parametrize("workers,persistent", [(0, False), (2, False), (1, True)])
def test_runs_repeat(answer, workers, persistent):
    """The same seeds and settings give the same numbers, bit for bit."""
    first, second = (
        epochs(answer, workers, seed=3, epochs=2, count=5, persistent=persistent) for _ in range(2)
    )
    where = f"with {workers} workers, persistent_workers={persistent}"
    expect_that(torch.equal(first, second), f"a second run gives other numbers, {where}")


def _salted(value, real=hash):
    """The hash of a process that was started with another salt: only those of strings differ."""
    return real((value, 7)) if _with_string(value) else real(value)


def _with_string(value):
    return isinstance(value, str | bytes) or (isinstance(value, tuple) and any(map(_with_string, value)))


@pytest.mark.parametrize("workers", [0, 1])
def test_started_again(answer, workers, monkeypatch):
    """A program that is started again, with another id and other hashes, gives the same numbers."""
    first = epochs(answer, workers, seed=3, epochs=2, count=3)
    monkeypatch.setattr(builtins, "hash", _salted)
    if not workers:
        monkeypatch.setattr(os, "getpid", lambda: 4242)
    second = epochs(answer, workers, seed=3, epochs=2, count=3)
    where = f"in a process of its own, with {workers} workers"
    likely = "hash() of a string, or the process id, is another one in each process"
    expect_that(torch.equal(first, second), f"a second run gives other numbers, {where}", likely=likely)


@pytest.mark.filterwarnings("ignore:This DataLoader will create")
def test_seeds(answer):
    """Datasets with different seeds have no noise in common, in no worker of either."""
    # The workers' seeds are an even number and the next: with their last bit flipped they trade places.
    bases = (
        (b, torch.empty((), dtype=torch.int64).random_(generator=torch.Generator().manual_seed(b)))
        for b in range(99)
    )
    base = next(b for b, drawn in bases if drawn % 2 == 0)
    runs = {
        (seed, workers): epochs(answer, workers, seed=seed, base=base, count=6)
        for seed, workers in [(0, 3), (1, 2), (0, 0), (1, 0), (2**16, 0), (2**31, 0), (2**32 - 1, 1)]
    }
    for (seed, workers), noise in runs.items():
        for (other, more), other_noise in runs.items():
            expect_that(
                seed >= other or repeated(noise, other_noise) is None,
                "datasets with different seeds share noise",
                yours=f"some under seed {seed} ({workers} workers) and seed {other} ({more} workers)",
                wanted="no noise of one seed under another",
            )
    silence = torch.zeros(1, 3, dtype=torch.float64)
    near = {2**k + d for k in range(7, 32) for d in (-1, 0, 1)} | {10**k for k in range(2, 10)}
    seeds = sorted({*range(100), *near, 2**32 - 1})
    noise = torch.stack([answer.NoisyRecordings(silence, 1.0, seed)[0] for seed in seeds])
    pair = repeated(noise)
    expect_that(
        pair is None,
        "datasets with different seeds have the same noise in their first readings",
        yours=f"seeds {seeds[pair[0]]} and {seeds[pair[1]]}" if pair else "",
        wanted="no noise of one seed under another",
    )
    default = answer.NoisyRecordings(silence, 1.0)[0]
    expect_equal(default, noise[0], "the first reading without a seed, which is 0 then,")


@pytest.mark.parametrize("workers,persistent", [(1, False), (2, True)])
def test_read_before(answer, workers, persistent):
    """A dataset that was read in the main process gives fresh noise in every worker all the same."""
    noise = epochs(answer, workers, peek=3, epochs=2, count=5, persistent=persistent)
    expect_fresh(noise, f"in 3 readings in the main process and 2 epochs with {workers} workers")


def test_read_before_by_a_loader(answer):
    """Loaders with and without workers may take turns on one dataset."""
    dataset = answer.NoisyRecordings(recordings(4), 2.0, 1)
    noise = [
        noise_of(torch.cat(list(loader_of(dataset, workers, base=base))), 4, "an epoch")
        for base, workers in enumerate((0, 2, 0, 1))
    ]
    expect_fresh(torch.cat(noise), "in 4 epochs of 4, with 0, 2, 0 and 1 workers")


def test_independent_datasets(answer):
    """What one dataset gives does not depend on what another one was asked."""
    first, second, third = (answer.NoisyRecordings(recordings(4), 2.0, seed) for seed in (7, 7, 8))
    wanted = [answer.NoisyRecordings(recordings(4), 2.0, 7)[0]]
    first[0], first[1], third[0]
    expect_equal(second[0], wanted[0], "dataset[0] after others were read")

    def run(dataset):
        torch.manual_seed(5)
        return list(loader_of(dataset, 1, batch_size=2))

    def make(seed):
        return answer.NoisyRecordings(recordings(4), 2.0, seed)

    alone = run(make(7))
    pairs = run(StackDataset(make(8), make(7), make(7)))
    for i, batch in enumerate(alone):
        for which in (1, 2):
            expect_that(
                torch.equal(pairs[i][which], batch),
                "another dataset in the same worker changes what one gives",
            )
        expect_that(repeated(pairs[i][0], batch) is None, "seeds 7 and 8 share noise in the same worker")


def streams():
    name, keys, *rest = np.random.get_state()
    return torch.get_rng_state().tolist(), (name, keys.tolist(), *rest), random.getstate()


class Watched(Dataset):
    """Says with each reading whether the global streams of its process are where they were."""

    def __init__(self, dataset):
        self.dataset = dataset

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, index):
        before = streams()
        self.dataset[index]
        return [one == other for one, other in zip(before, streams(), strict=True)]


@pytest.mark.parametrize("workers", [0, 1])
def test_global_streams(answer, workers):
    """The global streams of torch, NumPy and Python stay where they are, in the process that reads."""
    before = streams()
    dataset = answer.NoisyRecordings(recordings(3), 2.0, 4)
    expect_equal(before == streams(), True, "the global streams are the same after NoisyRecordings(...)")
    for untouched in loader_of(Watched(dataset), workers, batch_size=None):
        for name, same in zip(("torch", "NumPy", "Python"), untouched, strict=True):
            expect_that(
                bool(same),
                f"dataset[i] draws from the global stream of {name}, or seeds it, with {workers} workers",
            )


@pytest.mark.parametrize("peek", [0, 2])
def test_pickled(answer, peek):
    """Workers that get the dataset by pickle, read before or not, make fresh noise."""
    try:
        noise = epochs(answer, 2, count=3, epochs=2, peek=peek, persistent=True, start=PICKLED)
    except Exception as error:
        what = "the dataset does not reach a worker by pickle" + ", once it was read" * bool(peek)
        expect_that(False, what, yours=f"{type(error).__name__}: {str(error)[:150]}")
        return
    expect_fresh(noise, f"in {peek} readings in the main process and 2 epochs with 2 such workers")
    dataset = answer.NoisyRecordings(torch.zeros(1, 3, dtype=torch.float64), 1.0)
    readings = []
    for _ in range(2):
        readings += [dataset[0], dataset[0]]
        pickle.dumps(dataset)
    expect_fresh(torch.stack(readings), "in four readings of a dataset that is pickled after the second")


@pytest.mark.slow
def test_spawned(answer):
    """Spawned workers, which import your file anew, make fresh noise in each of two epochs."""
    dataset = answer.NoisyRecordings(recordings(5), 2.0, 1)
    before = [dataset[i] - STEP * i for i in range(2)]
    generator = torch.Generator().manual_seed(5)
    read = spawned_epochs(answer, dataset, batch_size=2, generator=generator)
    noise = [noise_of(torch.cat(batches), 5, "an epoch with 2 spawned workers") for batches in read]
    expect_fresh(
        torch.cat([torch.stack(before), *noise]), "in 2 readings before and 2 epochs of spawned workers"
    )


def test_noise_is_normal(answer):
    """The noise is normal, with the given standard deviation, independent for each sample."""
    for noise in (3.0, 0.25, None):
        clean = torch.full((40, 500), 2.0)
        dataset = answer.NoisyRecordings(clean) if noise is None else answer.NoisyRecordings(clean, noise)
        sigma = 0.1 if noise is None else noise
        call = "NoisyRecordings(recordings)" + (f" with noise={noise}" if noise else "")
        z = torch.stack([dataset[i] for i in range(40)]).double().sub(2.0) / sigma
        facts = {"std of one reading": z.std(1).mean(), "std": z.std(), "mean": z.mean()}
        facts["share beyond one std"] = (z.abs() > 1).double().mean()
        wanted = {"mean": 0.0, "std": 1.0, "std of one reading": 1.0, "share beyond one std": 0.3173}
        for name, value in facts.items():
            expect_that(
                abs(float(value) - wanted[name]) < 0.04,  # six standard errors of 20,000 samples
                f"wrong noise of {call}: its {name}, in units of {sigma}",
                yours=f"{float(value):.3f}",
                wanted=f"{wanted[name]:.3f}",
            )
        largest = float(z.abs().max())  # below 3.2 in one of 10¹¹ runs
        told = f"wrong noise of {call}: its largest number of 20000, in units of {sigma}, is cut off"
        expect_that(largest > 3.2, told, yours=f"{largest:.3f}", wanted="about 4")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_reading(answer, gen, dtype):
    """A reading is a new tensor in the dtype of the recordings, which stay as they are."""
    clean = torch.randn(5, 6, generator=gen, dtype=torch.float64).to(dtype)
    clean[2, 0] = torch.inf
    strided = torch.randn(4, 9, generator=gen).to(dtype).t()[::2]
    for given in (clean, strided, clean[:1].expand(3, 6)):
        noisy, plain = answer.NoisyRecordings(given, 1.5, 2), answer.NoisyRecordings(given, noise=0.0)
        with unchanged("dataset[1]", recordings=given):
            noisy[1]
        with unchanged("dataset[1]", recordings=given):
            reading = noisy[1]
            expect_equal(reading.dtype, dtype, "the dtype of dataset[1]")
            expect_equal(tuple(reading.shape), tuple(given.shape[1:]), "the shape of dataset[1]")
            expect_that(not torch.equal(reading, given[1]), "dataset[1] has no noise")
            for index in (0, 2, -1, -3):
                expect_equal(plain[index], given[index].clone(), f"dataset[{index}] with noise 0")
        expect_copy(plain[1], given, "dataset[1] with noise 0")


def test_few_recordings(answer):
    """There may be no recordings, or one, with and without workers."""
    for count in (0, 1):
        dataset = answer.NoisyRecordings(recordings(count))
        expect_equal(len(dataset), count, f"len(dataset) of {count} recordings")
        for workers in (0, 1):
            loader = loader_of(dataset, workers)
            expect_equal(len(list(loader)), count, f"the number of readings of {count}, {workers} workers")
        expect_raises(IndexError, lambda d=dataset: d[-2], f"dataset[-2] of {count} recordings")


def test_errors_reach_the_caller(answer):
    """An index past either end raises IndexError, also in a worker, whose error reaches the caller."""
    dataset = answer.NoisyRecordings(recordings(4))
    for index in (4, -5, 100):
        expect_raises(IndexError, lambda index=index: dataset[index], f"dataset[{index}] of 4 recordings")
    for workers in (0, 1):
        loader = loader_of(dataset, workers, sampler=[1, 4])
        expect_raises(IndexError, lambda loader=loader: list(loader), f"index 4 of 4 with {workers} workers")


def oracle(answer, gen):
    facts = []
    for workers in (0, 2):
        seed, base = torch.randint(0, 1000, (2,), generator=gen).tolist()
        noise = epochs(answer, workers, seed=seed, base=base, epochs=2, peek=1, count=5)
        again = epochs(answer, workers, seed=seed, base=base, epochs=2, peek=1, count=5)
        other = epochs(answer, workers, seed=seed + 1, base=base, epochs=2, peek=1, count=5)
        facts += [list(noise.shape), repeated(noise), torch.equal(noise, again), repeated(noise, other)]
        facts.append(bool(noise.abs().max() < 16) and math.isfinite(float(noise.sum())))
    clean = torch.randn(3, 4, generator=gen)
    plain = answer.NoisyRecordings(clean, 0.0, 1)
    return [facts, [plain[i] for i in range(len(plain))]]
