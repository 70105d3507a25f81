"""What grades loader_settings: test examples, training batches, orders by seed and epoch, streams."""

import pytest
import torch

from grader.checks import expect_equal, expect_that, global_rng_untouched


def numbers(count, start=0):
    return list(range(start, start + count))


def epoch_of(loader):
    return [batch.tolist() for batch in loader]


def epochs_of(answer, count=3, size=11, **options):
    loader, _ = answer.make_loaders(numbers(size), numbers(4), 3, **options)
    return [epoch_of(loader) for _ in range(count)]


@pytest.mark.parametrize("size,batch_size", [(10, 3), (10, 5), (5, 1), (3, 8)])
def test_test_loader(answer, size, batch_size):
    """The test loader gives every example once, in order, each time, with a shorter batch at the end."""
    data = numbers(size, start=100)
    _, loader = answer.make_loaders(numbers(20), data, batch_size, seed=3)
    wanted = [data[i : i + batch_size] for i in range(0, size, batch_size)]
    call = f"the test batches of {size} examples, batch_size={batch_size}"
    for _ in range(2):
        found = epoch_of(loader)
        out_of_order = sorted(i for batch in found for i in batch) == data and found != wanted
        expect_that(
            not out_of_order,
            f"{call} are not in the order of the dataset",
            yours=found,
            likely="the test set is shuffled, or batched otherwise",
        )
        lost = sum(map(len, wanted)) - sum(map(len, found))
        expect_that(
            lost <= 0,
            f"{call} lack {lost} of {size} examples",
            likely="drop_last=True: every test example counts",
        )
        expect_equal(found, wanted, call)
    expect_equal(len(loader), len(wanted), f"len of the test loader of {size} examples")


@pytest.mark.parametrize("size,batch_size", [(10, 3), (33, 8), (8, 4), (13, 12)])
def test_training_batches(answer, size, batch_size):
    """Training batches are full, and hold no example twice in an epoch."""
    loader, _ = answer.make_loaders(numbers(size, start=50), numbers(4), batch_size, seed=3)
    call = f"training on {size} examples, batch_size={batch_size}"
    full = [batch_size] * (size // batch_size)
    for _ in range(2):
        batches = epoch_of(loader)
        sizes = [len(b) for b in batches]
        told = f"the last training batch is shorter than the others, {call}"
        expect_that(
            sizes == full or sizes[:-1] != full,
            told,
            yours=sizes,
            wanted=full,
            likely="drop_last=True is missing",
        )
        expect_equal(sizes, full, f"the sizes of the batches, {call}")
        seen = [i for b in batches for i in b]
        expect_equal(len(set(seen)), len(seen), f"the number of distinct examples in an epoch, {call}")
    expect_equal(len(loader), len(full), f"len of the training loader, {call}")


def test_new_orders(answer):
    """Each epoch has another order, and leaves other examples out."""
    epochs = epochs_of(answer, 30)
    in_order = [i for b in epochs[0] for i in b] == numbers(9)
    expect_that(not in_order, "training takes the examples in their order", likely="no shuffle")
    distinct = len({str(epoch) for epoch in epochs})
    expect_that(distinct == 30, "the same order comes in two epochs", yours=f"{distinct} orders in 30 epochs")
    never = set(numbers(11)) - {i for epoch in epochs for b in epoch for i in b}
    expect_that(not never, "some examples are left out in each of 30 epochs", yours=f"never: {sorted(never)}")


def test_seeds(answer):
    """The same seed gives the same batches in each epoch, and other seeds give others."""
    for seed in (7, 0):
        first, second = epochs_of(answer, seed=seed), epochs_of(answer, seed=seed)
        expect_that(first == second, f"a second call with seed={seed} gives other training batches")
    runs = [epochs_of(answer, 1, seed=seed) for seed in (0, 1, 2, 3, 12345)]
    ignored = {"the order does not follow from seed: manual_seed(seed) is missing": lambda: 1}
    what = "the number of distinct first epochs for five seeds"
    expect_equal(len({str(run) for run in runs}), 5, what, suspects=ignored)


def test_global_draws(answer):
    """Draws from the global random stream, and its seeds, have no influence on the training batches."""
    wanted = epochs_of(answer, seed=5)
    torch.manual_seed(99)
    loader, _ = answer.make_loaders(numbers(11), numbers(4), 3, seed=5)
    yours = []
    for _ in range(3):
        torch.randn(3)
        yours.append(epoch_of(loader))
    told = "other batches for the same seed, after draws from torch's global random stream"
    expect_that(yours == wanted, told, likely="the order is drawn from the global stream, which all share")


@pytest.mark.parametrize("workers", [0, 3])
def test_workers(answer, workers):
    """Both loaders read with as many workers as are asked for."""
    loaders = answer.make_loaders(numbers(11), numbers(4), 3, workers=workers)
    for name, loader in zip(("training", "test"), loaders, strict=True):
        call = f"num_workers of the {name} loader for workers={workers}"
        expect_equal(loader.num_workers, workers, call, suspects={"workers is not handed on": lambda: 0})


@pytest.mark.fine
def test_few_examples(answer):
    """Fewer examples than a batch are one batch of all of them."""
    for size, batch_size in ((1, 2), (3, 4), (5, 64)):
        loader, test_loader = answer.make_loaders(numbers(size), numbers(70), batch_size, seed=3)
        found = [sorted(batch) for batch in epoch_of(loader)]
        expect_equal(found, [numbers(size)], f"training on {size} examples, batch_size={batch_size}")
        expect_equal(len(next(iter(test_loader))), batch_size, "the size of the test batches beside that")


@pytest.mark.fine
def test_global_stream(answer):
    """Neither making the loaders nor iterating them touches torch's global stream."""
    with global_rng_untouched("make_loaders(train, test, 3, seed=7)"):
        loader, test_loader = answer.make_loaders(numbers(11), numbers(5), 3, seed=7)
    with global_rng_untouched("iterating the training loader"):
        epoch_of(loader)
    with global_rng_untouched("iterating the test loader"):
        epoch_of(test_loader)


@pytest.mark.fine
def test_other_loaders(answer):
    """Iterating the test loader, or other loaders, changes no training batch."""
    wanted = epochs_of(answer, seed=5)
    loader, test_loader = answer.make_loaders(numbers(11), numbers(4), 3, seed=5)
    other, _ = answer.make_loaders(numbers(11), numbers(4), 3, seed=5)
    yours = []
    for _ in range(3):
        epoch_of(test_loader), epoch_of(other)
        yours.append(epoch_of(loader))
    expect_that(
        yours == wanted,
        "other training batches, after an epoch of the test loader and of another training loader",
        likely="loaders share a generator",
    )


def oracle(answer, gen):
    def loaders(gen, size, batch_size):
        data = torch.randint(10**6, (size,), generator=gen).tolist()
        return answer.make_loaders(data, data, batch_size, seed=size)

    def test_batches(gen):
        _, loader = loaders(gen, int(torch.randint(8, 20, (), generator=gen)), 5)
        return [epoch_of(loader), epoch_of(loader)]

    def whole_batches(gen):
        loader, _ = loaders(gen, 12, 4)
        return [sorted(i for batch in epoch_of(loader) for i in batch) for _ in range(2)]

    def sizes_with_a_rest(gen):
        counts = torch.randint(6, 40, (6,), generator=gen).tolist()
        return [[len(batch) for batch in epoch_of(loaders(gen, size, 5)[0])] for size in counts]

    def all_epochs(gen):
        """Whatever a rest that is dropped leaves out of one epoch, it leaves out of few."""
        loader, _ = loaders(gen, int(torch.randint(8, 20, (), generator=gen)), 5)
        return sorted({i for _ in range(40) for batch in epoch_of(loader) for i in batch})

    return {
        "the test batches": test_batches,
        "training on whole batches": whole_batches,
        "the sizes of training batches": sizes_with_a_rest,
        "training with a rest, in forty epochs": all_epochs,
    }
