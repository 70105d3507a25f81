"""What grades worker_seeding: real workers, epochs, runs, the noise; seeds, global streams, pickles."""

import random

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, StackDataset

from grader.checks import expect_copy, expect_equal, expect_that, unchanged
from grader.checks.dataloader.workers import FORKED, PICKLED

STEP = 1000.0
ALIKE = {
    True: "torch's workers start anew for every epoch with the same copy of the dataset",
    False: "each worker has a copy of the same generator: build one in each, from the worker's own seed",
    None: "a generator is made anew, from the same seed, for each reading",
}


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
    peeked = [dataset[i] - STEP * i for i in range(peek)]
    loader = loader_of(dataset, workers, base=base, batch_size=2, **options)
    call = f"an epoch with {workers} workers"
    read = [noise_of(torch.cat(list(loader)), count, call) for _ in range(epochs)]
    return torch.cat([*(x[None] for x in peeked), *read])


def repeated(noise, other=None):
    """A pair of readings with the same noise, or None."""
    same = (noise[:, None] - (noise if other is None else other)[None]).abs().amax(-1) < 1e-6
    pairs = (same.triu(1) if other is None else same).nonzero().tolist()
    return tuple(pairs[0]) if pairs else None


def expect_fresh(noise, where, likely=""):
    pair = repeated(noise)
    expect_that(
        pair is None,
        f"two readings have the same noise, {where}",
        yours=f"readings {pair[0]} and {pair[1]} both get {noise[pair[0]].tolist()}" if pair else "",
        wanted="fresh noise for each reading",
        likely=likely,
    )


@pytest.mark.filterwarnings("ignore:This DataLoader will create")
@pytest.mark.parametrize("workers", [0, 3])
def test_within_an_epoch(answer, workers):
    """Within an epoch no two recordings get the same noise, however many workers read them."""
    expect_fresh(epochs(answer, workers), f"with {workers} workers", ALIKE[False if workers else None])


@pytest.mark.parametrize("workers,persistent", [(0, False), (1, False), (2, False), (2, True)])
def test_epochs_differ(answer, workers, persistent):
    """Every epoch brings other noise, whether workers are started anew or stay alive."""
    noise = epochs(answer, workers, epochs=2, count=5, persistent=persistent)
    where = f"in 2 epochs of 5, with {workers} workers, persistent_workers={persistent}"
    expect_fresh(noise, where, ALIKE[not persistent if workers else None])


def test_same_recording_again(answer):
    """A recording that is read several times gets other noise each time."""
    for workers in (0, 2):
        dataset = answer.NoisyRecordings(torch.zeros(3, 4, dtype=torch.float64), 1.0)
        noise = torch.cat(list(loader_of(dataset, workers, sampler=[2] * 5)))
        expect_fresh(noise, f"where recording 2 is read 5 times, with {workers} workers")


@pytest.mark.parametrize("workers", [0, 2])
def test_runs_repeat(answer, workers):
    """The same seeds and settings give the same numbers."""
    first, second = (epochs(answer, workers, seed=3, epochs=2, count=5) for _ in range(2))
    likely = "the noise depends on something that no seed decides, such as the time or the process id"
    told = f"a second run gives other numbers, with {workers} workers"
    expect_that(torch.equal(first, second), told, likely=likely)


def test_noise_is_normal(answer):
    """The noise is normal, with the given standard deviation, independent for each sample."""
    for sigma in (3.0, 0.25):
        dataset = answer.NoisyRecordings(torch.full((40, 500), 2.0), sigma)
        z = torch.stack([dataset[i] for i in range(40)]).double().sub(2.0) / sigma
        expect_that(float(z.std(1).mean()) > 0.1, "all samples of a reading get the same number for noise")
        for name, value, wanted in [
            ("mean", z.mean(), 0.0),
            ("std", z.std(), 1.0),
            ("share beyond one std", (z.abs() > 1).double().mean(), 0.3173),
        ]:
            expect_that(
                abs(float(value) - wanted) < 0.04,  # six standard errors of 20,000 samples
                f"wrong noise of NoisyRecordings(recordings, {sigma}): its {name}, in units of {sigma}",
                yours=f"{float(value):.3f}",
                wanted=f"{wanted:.3f}",
            )


def test_recordings_stay(answer, gen):
    """The recordings stay as they are: the noise goes into a new tensor."""
    clean = torch.randn(4, 3, generator=gen)
    with unchanged("dataset[1]", recordings=clean):
        answer.NoisyRecordings(clean, 1.5)[1]


@pytest.mark.fine
@pytest.mark.parametrize("workers,persistent", [(1, False), (2, True)])
def test_read_before(answer, workers, persistent):
    """A dataset that was read in the main process gives fresh noise in every worker all the same."""
    noise = epochs(answer, workers, peek=3, epochs=2, count=5, persistent=persistent)
    likely = "the generator that was built for the first reading came along into the workers"
    where = f"in 3 readings in the main process and 2 epochs with {workers} workers"
    expect_fresh(noise, where, likely)


@pytest.mark.fine
@pytest.mark.filterwarnings("ignore:This DataLoader will create")
def test_seeds(answer):
    """Datasets with different seeds have no noise in common, in no worker of either."""
    runs = {
        (seed, workers): epochs(answer, workers, seed=seed, count=6)
        for seed, workers in [(0, 3), (1, 2), (0, 0), (1, 0), (2**31, 0), (2**32 - 1, 1)]
    }
    for (seed, workers), noise in runs.items():
        for (other, more), other_noise in runs.items():
            expect_that(
                seed >= other or repeated(noise, other_noise) is None,
                "datasets with different seeds share noise",
                yours=f"some under seed {seed} ({workers} workers) and seed {other} ({more} workers)",
                wanted="no noise of one seed under another",
            )


@pytest.mark.fine
def test_independent_datasets(answer):
    """What one dataset gives does not depend on what another one was asked."""

    def run(*seeds):
        torch.manual_seed(5)
        made = [answer.NoisyRecordings(recordings(4), 2.0, seed) for seed in seeds]
        return [batch[-1] for batch in loader_of(StackDataset(*made), 1, batch_size=2)]

    for alone, beside in zip(run(7), run(8, 7), strict=True):
        told = "another dataset in the same worker changes what one gives"
        expect_that(torch.equal(alone, beside), told)


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


@pytest.mark.fine
@pytest.mark.parametrize("workers", [0, 1])
def test_global_streams(answer, workers):
    """The global streams of torch, NumPy and Python stay where they are, in the process that reads."""
    dataset = answer.NoisyRecordings(recordings(3), 2.0, 4)
    for untouched in loader_of(Watched(dataset), workers, batch_size=None):
        for name, same in zip(("torch", "NumPy", "Python"), untouched, strict=True):
            told = f"dataset[i] draws from the global stream of {name}, or seeds it, with {workers} workers"
            expect_that(bool(same), told)


@pytest.mark.fine
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


@pytest.mark.fine
def test_dtype_and_memory(answer, gen):
    """A reading has the dtype of the recordings, and is a tensor of its own."""
    clean = torch.randn(5, 6, generator=gen).bfloat16()
    noisy, plain = answer.NoisyRecordings(clean, 1.5, 2), answer.NoisyRecordings(clean, noise=0.0)
    expect_equal(noisy[1].dtype, torch.bfloat16, "the dtype of dataset[1]")
    expect_copy(plain[1], clean, "dataset[1] with noise 0")


def oracle(answer, gen):
    def told(workers, *, again=0):
        """What was read under the noise, and whether the noise is fresh, and the same in a second run."""
        values = torch.randint(1000, (5, 3), generator=gen).double() * STEP
        base = int(torch.randint(1000, (), generator=gen))

        def read():
            torch.manual_seed(base)
            dataset = answer.NoisyRecordings(values, 2.0, 1)
            return torch.cat([x for _ in range(1 + again) for x in loader_of(dataset, workers, base=base)])

        first, second = read(), read()
        noise = first - (first / STEP).round() * STEP
        return [(first / STEP).round(), repeated(noise), torch.equal(first, second)]

    clean = torch.randn(3, 4, generator=gen)
    plain = answer.NoisyRecordings(clean, 0.0, 1)
    return {
        "recordings without noise": [plain[i] for i in range(len(plain))],
        "an epoch without workers": told(0),
        "an epoch with two workers": told(2),
        "two epochs with two workers": told(2, again=1),
    }
