"""What grades loader_settings: every example once, tails, orders by seed and epoch, streams, real workers."""

import os

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset, get_worker_info

from grader.checks import expect_equal, expect_raises, expect_that, global_rng_untouched


def numbers(count, start=0):
    return list(range(start, start + count))


def epoch_of(loader):
    return [batch.tolist() for batch in loader]


def epochs_of(answer, count=3, size=11, batch_size=3, **options):
    loader, _ = answer.make_loaders(numbers(size), numbers(4), batch_size, **options)
    return [epoch_of(loader) for _ in range(count)]


@pytest.mark.parametrize(
    "size,batch_size", [(10, 3), (10, 5), (7, 3), (5, 1), (1, 1), (1, 4), (3, 8), (4, 4), (0, 3)]
)
def test_test_loader(answer, size, batch_size):
    """The test loader gives every example once, in order, each time, with a shorter batch at the end."""
    data = numbers(size, start=100)
    _, loader = answer.make_loaders(numbers(20), data, batch_size, seed=3)
    wanted = [data[i : i + batch_size] for i in range(0, size, batch_size)]
    call = f"test_loader of {size} examples in batches of {batch_size}"
    expect_that(isinstance(loader, DataLoader), "the test loader is no DataLoader", yours=loader)
    expect_equal(len(loader), len(wanted), f"len of the {call}")
    for time in ("first", "second"):
        expect_equal(epoch_of(loader), wanted, f"the {call}, for the {time} time")
    _, loader = answer.make_loaders(numbers(2), data, batch_size, seed=3)
    expect_equal(epoch_of(loader), wanted, f"the {call}, next to two examples to train on")


@pytest.mark.parametrize(
    "size,batch_size", [(10, 3), (9, 4), (33, 8), (8, 4), (5, 1), (13, 12), (11, 4), (14, 5)]
)
def test_training_batches(answer, size, batch_size):
    """Training batches are full, hold no example twice in an epoch, and leave out fewer than a batch."""
    loader, _ = answer.make_loaders(numbers(size, start=50), numbers(4), batch_size, seed=3)
    call = f"training on {size} examples in batches of {batch_size}"
    expect_that(isinstance(loader, DataLoader), "the training loader is no DataLoader", yours=loader)
    expect_equal(len(loader), size // batch_size, f"len(train_loader), {call}")
    for epoch in range(3):
        batches = epoch_of(loader)
        full = [batch_size] * (size // batch_size)
        expect_equal([len(b) for b in batches], full, f"the sizes of the batches in epoch {epoch}, {call}")
        seen = [i for b in batches for i in b]
        expect_equal(len(set(seen)), len(seen), f"the number of distinct examples in epoch {epoch}, {call}")
        expect_that(set(seen) <= set(numbers(size, start=50)), f"strange examples, {call}", yours=seen)


@pytest.mark.parametrize("size,batch_size", [(1, 2), (3, 4), (5, 64)])
def test_few_examples(answer, size, batch_size):
    """Fewer examples than a batch are one batch of all of them, in a random order."""
    loader, _ = answer.make_loaders(numbers(size), numbers(4), batch_size, seed=3)
    call = f"training on {size} examples in batches of {batch_size}"
    expect_equal(len(loader), 1, f"len(train_loader), {call}")
    epochs = [epoch_of(loader) for _ in range(20)]
    for batches in epochs:
        expect_equal([sorted(b) for b in batches], [numbers(size)], f"the batches, {call}")
    expect_that(size == 1 or epochs != epochs[:1] * 20, f"the order is the same in each epoch, {call}")


def test_all_orders(answer, gen):
    """Each example is as likely at each place, and to be left out."""
    size, epochs = 5, 300
    seed = int(torch.randint(1000, (), generator=gen))
    loader, _ = answer.make_loaders(numbers(size), numbers(4), 2, seed=seed)
    counts = torch.zeros(size, size, dtype=torch.int64)
    followed = torch.zeros(size, size, dtype=torch.int64)
    orders = set()
    for _ in range(epochs):
        order = [i for batch in epoch_of(loader) for i in batch]
        order += [i for i in numbers(size) if i not in order]
        for place, i in enumerate(order):
            counts[i, place] += 1
        followed[order[0], order[1]] += 1
        orders.add(tuple(order))
    # 60 times each, and 6 standard deviations of 7
    for i in range(size):
        times = counts[i].tolist()
        expect_that(
            min(times) >= 18 and max(times) <= 102,
            f"example {i} does not come at each place equally often (the last place: left out)",
            yours=f"{times} times in {epochs} epochs",
            wanted="about 60 times each",
        )
    pairs = followed.flatten()[1:].view(size - 1, size + 1)[:, :-1]  # without the diagonal
    expect_that(
        int(pairs.min()) >= 1,
        "some examples never come together at the start",
        yours=f"{int((pairs == 0).sum())} of 20 pairs never",
        wanted="about 15 times each",
    )
    expect_that(
        len(orders) >= 80,
        "some orders of five examples never come",
        yours=f"{len(orders)} orders in {epochs} epochs",
        wanted="about 110 of 120",
    )


def test_same_seed(answer):
    """The same seed gives the same batches in each epoch, other seeds and other epochs give others."""
    for seed in (0, 1, 12345, 2**40):
        first, again = epochs_of(answer, seed=seed), epochs_of(answer, seed=seed)
        expect_equal(again, first, f"the epochs of a second call with seed={seed}")
        expect_that(first[0] != first[1] != first[2] != first[0], "the same order in two epochs", yours=first)
    seeds = [*range(6), 2**16, 2**16 + 1, 2**24 + 1, 10**9, 2**31]
    runs = [epochs_of(answer, 1, seed=seed)[0] for seed in seeds]
    expect_equal(len({str(run) for run in runs}), 11, f"the number of distinct first epochs for {seeds}")
    expect_equal(epochs_of(answer), epochs_of(answer, seed=0), "the epochs of the default seed")


def test_nothing_else_matters(answer):
    """Global streams, the test loader and other loaders change no training batch."""
    wanted, without = epochs_of(answer, seed=5), epochs_of(answer)
    torch.manual_seed(99)
    torch.randn(3)
    expect_equal(epochs_of(answer), without, "the epochs of the default seed after torch.manual_seed(99)")
    expect_equal(epochs_of(answer, seed=5), wanted, "the epochs after torch.manual_seed(99)")
    loader, test_loader = answer.make_loaders(numbers(11), numbers(4), 3, seed=5)
    torch.manual_seed(1)
    yours = [epoch_of(loader)]
    epoch_of(test_loader), epoch_of(test_loader)
    torch.rand(2)
    yours.append(epoch_of(loader))
    torch.manual_seed(1)
    epoch_of(test_loader)
    expect_equal([*yours, epoch_of(loader)], wanted, "the epochs with evaluations and draws in between")
    loader, _ = answer.make_loaders(numbers(11), numbers(4), 3, seed=5)
    other, _ = answer.make_loaders(numbers(11), numbers(4), 3, seed=5)
    yours = []
    for _ in range(3):
        yours.append(epoch_of(loader))
        expect_equal(epoch_of(other), yours[-1], "an epoch of another loader with the same seed")
    expect_equal(yours, wanted, "the epochs with those of another loader in between")


def test_broken_off(answer):
    """An epoch that is broken off is not begun again, and two that run side by side are two orders."""
    loader, _ = answer.make_loaders(numbers(40), numbers(4), 8, seed=5)
    first, second = next(iter(loader)).tolist(), next(iter(loader)).tolist()
    expect_that(
        first != second, "an epoch that was broken off begins again with the same batch", yours=second
    )
    pairs = [(one.tolist(), other.tolist()) for one, other in zip(loader, loader, strict=True)]
    for number, batches in enumerate(zip(*pairs, strict=True)):
        seen = len({i for batch in batches for i in batch})
        expect_equal(seen, 40, f"the number of distinct examples in epoch {number} of two side by side")


def test_global_stream(answer):
    """Neither making the loaders nor iterating them touches torch's global stream."""
    with global_rng_untouched("make_loaders(train, test, 3, seed=7)"):
        loader, test_loader = answer.make_loaders(numbers(11), numbers(5), 3, seed=7)
    for name, each in (("the training loader", loader), ("the test loader", test_loader)):
        for _ in range(2):
            with global_rng_untouched(f"iterating {name}"):
                before = torch.get_rng_state()
                for number, _ in enumerate(each):
                    expect_that(
                        torch.equal(torch.get_rng_state(), before),
                        f"torch's global stream is another at batch {number} of {name}, if only for a while",
                        wanted="the state from before the epoch: the model draws from it between batches",
                    )


def test_usual_batches(answer, gen):
    """Features and labels are batched apart, as usual."""
    x, y = torch.randn(5, 2, generator=gen), torch.arange(5)
    loader, test_loader = answer.make_loaders(TensorDataset(x, y), TensorDataset(x, y), 2, seed=1)
    parts = [torch.cat(p) for p in zip(*test_loader, strict=True)]
    expect_equal(parts, [x, y], "the features and labels of the test loader")
    for features, labels in loader:
        expect_equal(features, x[labels], "the features of a training batch", dims="batch features")


class Read(Dataset):
    """Examples that tell which worker has read them."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if not 0 <= index < self.count:
            raise IndexError(index)
        info = get_worker_info()
        return index, -1 if info is None else info.id


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_workers(answer, workers):
    """With 0, 1 or 2 workers, each reading its part: every test example once, and training that repeats."""
    for loader in answer.make_loaders(Read(9), Read(0), 4, workers=workers):  # fewer examples than workers
        call = f"num_workers of a loader made with workers={workers}, of 9 examples to learn from, 0 to judge"
        expect_equal(loader.num_workers, workers, call)
    runs = []
    for _ in range(1 if workers == 1 else 2):
        loaders = answer.make_loaders(Read(11), Read(7), 3, seed=2, workers=workers)
        for loader in loaders:
            expect_equal(loader.num_workers, workers, f"num_workers of a loader made with workers={workers}")
            if workers and hasattr(os, "fork"):
                loader.multiprocessing_context = "fork"
        with global_rng_untouched(f"iterating loaders with {workers} workers"):
            epochs = [[(i.tolist(), w.tolist()) for i, w in loaders[0]] for _ in range(2)]
            tests = [(i.tolist(), w.tolist()) for i, w in loaders[1]]
        runs.append([[i for i, _ in epoch] for epoch in epochs])
        for name, batches in (("train", epochs[0]), ("test", tests)):
            used = {w for _, ws in batches for w in ws}
            call = f"the workers that the {name} loader reads with, with workers={workers}"
            expect_equal(used, set(range(workers)) or {-1}, call)
        wanted = [[0, 1, 2], [3, 4, 5], [6]]
        expect_equal([i for i, _ in tests], wanted, f"the test batches with {workers} workers")
        for epoch in runs[-1]:
            expect_equal([len(i) for i in epoch], [3, 3, 3], f"the training batches with {workers} workers")
            expect_equal(len({i for b in epoch for i in b}), 9, "the number of distinct training examples")
        expect_that(runs[-1][0] != runs[-1][1], f"two epochs are the same with {workers} workers")
    expect_equal(runs[-1], runs[0], f"the training batches of a second run with {workers} workers")


def test_bad_input(answer):
    """A batch size below 1, and a training set without examples, raise ValueError."""
    data = numbers(5)
    for batch_size in (0, -1, -8):
        expect_raises(
            ValueError, lambda b=batch_size: answer.make_loaders(data, data, b), f"batch_size={batch_size}"
        )
    expect_raises(ValueError, lambda: answer.make_loaders([], data, 1), "make_loaders(train=[], …, 1)")
    expect_raises(ValueError, lambda: answer.make_loaders([], [], 3, seed=1), "make_loaders([], [], 3)")


def oracle(answer, gen):
    result = []
    for size, batch_size in ((9, 2), (6, 3), (2, 4)):
        data = torch.randint(1000, (size,), generator=gen).tolist()
        loader, test_loader = answer.make_loaders(data, data, batch_size, seed=size)
        result.append([epoch_of(test_loader), [len(b) for b in epoch_of(loader)], len(loader)])
        result.append(sorted(i for b in epoch_of(loader) for i in b) if size % batch_size == 0 else None)
    return result
