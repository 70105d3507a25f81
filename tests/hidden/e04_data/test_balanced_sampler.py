"""What grades balanced_sampler: weights, what comes out, seeds; kinds of labels, streams, errors."""

import numpy as np
import pytest
import torch

from grader.checks import expect_equal, expect_raises, expect_that, global_rng_untouched
from grader.checks.contract import Contract, values


def shared(labels, weigh=lambda count, classes, size: 1 / (count * classes)):
    """Label by label; `weigh` is as people get it wrong."""
    found = torch.as_tensor(labels).long().tolist()
    classes = set(found)
    chances = [weigh(found.count(label), len(classes), len(found)) for label in found]
    return torch.tensor(chances, dtype=torch.float64)


def wrong(weigh):
    return lambda labels: shared(labels, weigh)


def drawn(gen, *counts, first=0):
    """So many labels of each class, in a random order; the classes are `first` and every third from there."""
    labels = torch.arange(len(counts)).mul(3).add(first).repeat_interleave(torch.tensor(counts))
    return labels[torch.randperm(len(labels), generator=gen)]


def sizes(gen, classes):
    return torch.randint(1, 30, (classes,), generator=gen).tolist()


sample_weights = Contract(
    "sample_weights(labels)",
    reference=shared,
    use=lambda answer, labels: torch.as_tensor(answer.sample_weights(labels)).double(),
    inputs=lambda gen: {
        "three classes": drawn(gen, 7, 2, 11),
        "five classes that do not begin at 0": drawn(gen, *sizes(gen, 5), first=4),
        "one class": drawn(gen, 6),
        "as many classes as examples": drawn(gen, 1, 1, 1, 1),
        "twelve classes": drawn(gen, *sizes(gen, 12)),
    },
    dims="examples",
    scale=1e8,
    suspects={
        "all classes together have the sum of their number: divide by how many there are": wrong(
            lambda count, classes, size: 1 / count
        ),
        "large classes are to get small weights: divide by the count": wrong(
            lambda count, classes, size: count / size
        ),
        "the weights of a loss, n / (classes * count): they do not sum to 1": wrong(
            lambda count, classes, size: size / (count * classes)
        ),
        "the number of examples takes the place of that of classes": wrong(
            lambda count, classes, size: 1 / (count * size)
        ),
    },
    job=[values(title="The weight of an example is the share of its class, divided by its count.")],
)


def loaded(answer, labels, batch_size=16, seed=5, loops=1):
    """The indices that come, loop by loop."""
    loader = answer.balanced_loader(range(len(labels)), labels, batch_size, seed)
    return [torch.cat(list(loader)) for _ in range(loops)]


@pytest.mark.parametrize("counts", [(900, 60, 240), (30, 1170)], ids=["three classes", "two classes"])
def test_shares(answer, gen, counts):
    """Each class comes equally often, and so does each example of it."""
    labels = drawn(gen, *counts)
    drawn_ones = torch.cat([loaded(answer, labels, seed=seed)[0] for seed in range(5)])
    told = f"examples come that are not the dataset's {len(labels)}"
    expect_that(bool((drawn_ones < len(labels)).all()), told, yours=int(drawn_ones.max()))
    total = len(drawn_ones)
    for label, count in zip(labels.unique().tolist(), counts, strict=True):
        share = float((labels[drawn_ones] == label).double().mean())
        wanted = 1 / len(counts)
        told = f"class {label}, of {count} examples in {len(labels)}, has not the share of each class"
        likely = ""
        if int(drawn_ones.max()) < len(counts):
            likely = "these are weights of classes: the sampler wants one for each example"
        elif abs(share - count / len(labels)) < 0.03:
            likely = "it has the share that it has in the dataset"
        off = 6 * (wanted * (1 - wanted) / total) ** 0.5  # six standard errors
        expect_that(
            abs(share - wanted) < off, told, yours=f"{share:.3f}", wanted=f"{wanted:.3f}", likely=likely
        )
        ours = (labels == label).nonzero().flatten()
        most = int(torch.bincount(drawn_ones, minlength=len(labels))[ours].max())
        mean = total * wanted / count
        told = f"one example of class {label} comes far more often than the others"
        expect_that(
            most < mean + 8 * mean**0.5 + 4, told, yours=f"{most} times", wanted=f"about {mean:.1f} times"
        )


@pytest.mark.parametrize(("size", "batch_size"), [(20, 8), (21, 7), (5, 9)])
def test_sizes(answer, gen, size, batch_size):
    """An epoch has as many examples as the dataset, in batches of batch_size; the last may be short."""
    labels = drawn(gen, size - 2, 2)
    loader = answer.balanced_loader(range(size), labels, batch_size, 1)
    wanted = [min(batch_size, size - i) for i in range(0, size, batch_size)]
    call = f"the sizes of the batches of {size} examples by {batch_size}"
    expect_equal([len(batch) for batch in loader], wanted, call)


def test_examples(answer, gen):
    """What comes out are examples of the dataset, not their numbers."""
    rows = torch.randn(9, 2, generator=gen)
    labels = drawn(gen, 6, 3)
    for batch, classes in answer.balanced_loader(list(zip(rows, labels, strict=True)), labels, 4, seed=2):
        for row, label in zip(batch, classes, strict=True):
            at = (rows == row).all(1).nonzero().flatten().tolist()
            same = len(at) == 1 and int(labels[at[0]]) == int(label)
            expect_that(same, "a pair comes that is not the dataset's", yours=(row, label))


def test_seeds(answer, gen):
    """The same seed gives the same batches, loop by loop; loops and seeds differ."""
    labels = drawn(gen, 70, 20)
    first, second = loaded(answer, labels, seed=3, loops=2)
    again = loaded(answer, labels, seed=3, loops=2)
    told = "a second loader of the same seed gives other examples"
    likely = "the sampler draws from torch's global stream: give it a generator of its own"
    expect_that(torch.equal(first, again[0]) and torch.equal(second, again[1]), told, likely=likely)
    expect_that(not torch.equal(first, second), "the second loop draws what the first one did")
    (other,) = loaded(answer, labels, seed=4)
    expect_that(not torch.equal(first, other), "seed 4 gives what seed 3 does", likely="the seed is ignored")


@pytest.mark.fine
@pytest.mark.parametrize(
    "labels",
    [
        [-1, -1, 7, -1],
        torch.tensor([2**60, 2**60 + 1, 2**60]),
        torch.tensor([200, 3, 200], dtype=torch.uint8),
        torch.tensor([-100, 5, 5], dtype=torch.int16),
        np.array([4, 4, 9, 9, 9]),
        [3],
    ],
    ids=["negative", "large", "uint8", "int16", "array", "one"],
)
def test_kinds_of_labels(answer, labels):
    """Labels may be any integers, in a list, an array or a tensor of any integer dtype."""
    yours = torch.as_tensor(answer.sample_weights(labels)).double()
    wanted = shared(labels)
    told = f"wrong weights of {labels}"
    same = yours.shape == wanted.shape and torch.allclose(yours, wanted, rtol=1e-5)
    expect_that(same, told, yours=yours, wanted=wanted)
    expect_equal(
        len(loaded(answer, labels)[0]), len(labels), f"the number of examples in an epoch, labels {labels}"
    )


@pytest.mark.fine
def test_float64(answer):
    """The weights are float64, sum to 1, and lie on the CPU."""
    labels = torch.arange(300_000) % 3
    weights = answer.sample_weights(labels)
    expect_equal(str(getattr(weights, "dtype", type(weights))), "torch.float64", "the dtype of the weights")
    off = abs(float(weights.sum()) - 1)
    expect_that(
        off < 1e-9, "300000 weights do not sum to 1", yours=f"{off:.1e} off", likely="made in float32"
    )


@pytest.mark.fine
def test_empty(answer):
    """Of no labels, there are no weights."""
    for labels in (torch.tensor([], dtype=torch.int64), []):
        weights = answer.sample_weights(labels)
        expect_equal(weights, torch.zeros(0, dtype=torch.float64), f"sample_weights({labels})")


@pytest.mark.fine
def test_global_stream(answer):
    """torch's global random stream is left alone, when the loader is made and while it is iterated."""
    with global_rng_untouched("a loop over balanced_loader(dataset, labels, 2, seed=3)"):
        list(answer.balanced_loader([1, 2, 3], torch.tensor([0, 0, 1]), 2, 3))


@pytest.mark.fine
def test_errors(answer):
    """As many labels as examples, or ValueError."""
    for count in (2, 4):
        call = f"balanced_loader of 3 examples and {count} labels"
        labels = torch.arange(count)
        expect_raises(ValueError, lambda labels=labels: answer.balanced_loader([1, 2, 3], labels, 2), call)


def oracle(answer, gen):
    def weights(gen, classes):
        labels = drawn(gen, *sizes(gen, classes), first=int(torch.randint(100, (), generator=gen)))
        return torch.as_tensor(answer.sample_weights(labels)).double().mul(1e6).round()

    def shares(gen):
        """Of each class in many draws, in units of the same share, and who comes."""
        labels = drawn(gen, 60, 300, 140, first=int(torch.randint(10**6, (), generator=gen)))
        found = labels[torch.cat(loaded(answer, labels, loops=6))]
        return {str(n): round(float((found == n).double().mean()) * 3) for n in labels.unique().tolist()}

    return {
        "the weights of four classes, in millionths": lambda gen: weights(gen, 4),
        "the weights of nine classes, in millionths": lambda gen: weights(gen, 9),
        "the shares of classes that come": shares,
    }
