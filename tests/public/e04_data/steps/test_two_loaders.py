"""The suite of two_loaders."""

import torch
from torch.utils.data import TensorDataset

from grader.checks import expect_equal, expect_that

CALL = "two_loaders(train, test, batch_size)"


def rows(loader):
    """What the loader gives when it is gone through once, batch by batch."""
    return [x.tolist() for (x,) in loader]


def order(loader):
    """The rows that the loader gives, one after another."""
    return [row for batch in rows(loader) for row in batch]


def loaders(answer, train, test, batch_size):
    return answer.two_loaders(TensorDataset(train), TensorDataset(test), batch_size)


def test_batches_to_train(answer):
    """The training loader has batches of one size, and drops what is left over."""
    for size, batch_size, wanted in [(10, 4, [4, 4]), (9, 3, [3, 3, 3]), (11, 5, [5, 5])]:
        loader, _ = loaders(answer, torch.arange(size), torch.arange(6), batch_size)
        about = f"the sizes of the training batches, of {size} rows with batch_size={batch_size}"
        left = {
            "the last batch, which is short, is not dropped": lambda w=wanted, n=size, b=batch_size: [
                *w,
                n % b,
            ],
            "this is the loader of the test rows: the training loader comes first": lambda b=batch_size: [
                min(b, 6 - start) for start in range(0, 6, b)
            ],
        }
        expect_equal([len(batch) for batch in rows(loader)], wanted, about, suspects=left)


def test_shuffled(answer):
    """The training loader gives all rows that fit, in a new order each time."""
    loader, _ = loaders(answer, torch.arange(40), torch.arange(6), 8)
    first, second = (order(loader) for _ in range(2))
    expect_that(first != sorted(first), "the training loader does not shuffle", yours=f"{first[:8]} …")
    expect_that(first != second, "the training loader gives the same order each time")
    expect_equal(sorted(first), list(range(40)), "the rows of the training loader, sorted")


def test_test_loader(answer):
    """The test loader gives all rows, in their order."""
    _, loader = loaders(answer, torch.arange(10), torch.arange(6), 4)
    found = rows(loader)
    expect_that(len(found) > 1, "the test loader drops the rows of the last batch", yours=found)
    in_order = [[0, 1, 2, 3], [4, 5]]
    shuffled = sorted(row for batch in found for row in batch) == list(range(6)) and found != in_order
    expect_that(not shuffled, "the test loader shuffles: it is to keep the order", yours=found)
    expect_equal(found, in_order, "the batches of the test loader")


def oracle(answer, gen):
    cases = {}
    for batches, batch_size in [(2, 3), (3, 4), (4, 2)]:
        train, test = (torch.randn(batches * batch_size + extra, generator=gen) for extra in (0, 1))
        loader, test_loader = loaders(answer, train, test, batch_size)
        cases[f"{batches} batches"] = [sorted(order(loader)), rows(test_loader)]
    return cases
