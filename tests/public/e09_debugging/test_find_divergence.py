"""The worked example of find_divergence."""

import copy

import torch
from torch import nn

from grader.checks import expect_equal, expect_number, expect_that

X = torch.tensor([[1.0, -2.0], [0.5, 3.0]])
CALL = "find_divergence(reference, candidate, x)"
LAST = "this is the last call that differs, or the order of named_modules(): the model's call ends last"


def pair():
    torch.manual_seed(0)
    reference = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
    return reference, copy.deepcopy(reference)


def expect_divergence(yours, layer, call, error):
    expect_that(yours is not None, f"{CALL} is None, though the models part at {layer!r}")
    expect_equal(type(yours).__name__, "Divergence", f"the type of {CALL}")
    others = {LAST: lambda: ("", 0), "call counts from 0": lambda: (layer, 1)}
    expect_equal((yours.layer, yours.call), (layer, call), f"layer and call of {CALL}", suspects=others)
    expect_number(yours.error, error, f"error of {CALL}", rtol=1e-4)


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    reference, candidate = pair()
    candidate[2].bias.data += 0.5
    expect_divergence(answer.find_divergence(reference, candidate, X), "2", 0, 0.5)


def test_equal_models(answer):
    """Models that compute the same do not part."""
    reference, candidate = pair()
    for other, what in ((candidate, "copy"), (reference, "reference")):
        yours = answer.find_divergence(reference, other, X)
        expect_equal(yours, None, f"find_divergence(reference, {what}, x)")


def test_the_first_of_two(answer):
    """Where two layers differ, the first to run is the result."""
    reference, candidate = pair()
    candidate[0].bias.data -= 0.25
    candidate[2].bias.data += 0.5
    expect_divergence(answer.find_divergence(reference, candidate, X), "0", 0, 0.25)
