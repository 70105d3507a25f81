"""The worked example of deterministic_augment."""

import torch

from grader.checks import expect_equal, expect_that


def noisy(x, generator):
    return x + torch.randn(x.shape, generator=generator)


def test_worked_example(answer):
    """An item has the same noise each time in one epoch, and other noise in the next."""
    data = answer.SeededAugment(torch.zeros(3, 2), noisy, seed=7)
    expect_equal(len(data), 3, "len(data)")
    first = data[2]
    expect_equal(tuple(first.shape), (2,), "the shape of data[2]")
    told = "data[2] has other noise when it is read again, after data[0]"
    expect_that(torch.equal((data[0], data[2])[1], first), told, yours=data[2], wanted=first)
    expect_that(not torch.equal(data[0], first), "data[0] and data[2] have the same noise", yours=first)
    data.set_epoch(1)
    expect_that(not torch.equal(data[2], first), "data[2] has the same noise in epoch 1", yours=first)
