"""The contract of find_divergence."""

import copy

import torch
from torch import nn

from grader.checks import expect_equal, expect_that

X = torch.tensor([[1.0, -2.0], [0.5, 3.0]])


def pair():
    torch.manual_seed(0)
    reference = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
    return reference, copy.deepcopy(reference)


def expect_divergence(yours, layer, call, error):
    expect_equal(type(yours).__name__, "Divergence", "the type of find_divergence(reference, candidate, x)")
    expect_equal((yours.layer, yours.call), (layer, call), "layer and call of the divergence")
    close = type(yours.error) is float and abs(yours.error - error) <= 1e-5
    expect_that(close, "wrong error of the divergence", yours=yours.error, wanted=error)


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    reference, candidate = pair()
    candidate[2].bias.data += 0.5
    expect_divergence(answer.find_divergence(reference, candidate, X), "2", 0, 0.5)


def test_equal_models(answer):
    """Models that compute the same do not part."""
    reference, candidate = pair()
    expect_equal(
        answer.find_divergence(reference, reference, X), None, "find_divergence(reference, reference, x)"
    )
    expect_equal(answer.find_divergence(reference, candidate, X), None, "find_divergence(reference, copy, x)")


def test_the_first_of_two(answer):
    """Where two layers differ, the first to run is the result."""
    reference, candidate = pair()
    candidate[0].bias.data -= 0.25
    candidate[2].bias.data += 0.5
    expect_divergence(answer.find_divergence(reference, candidate, X), "0", 0, 0.25)
