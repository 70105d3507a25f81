"""The suite of same_shape_or_error."""

import torch

from grader.checks import expect_raises
from grader.checks.contract import Contract

contract = Contract(
    "same_shape_or_error(predicted, target)",
    reference=lambda predicted, target: (predicted - target).square().mean(),
    example=((torch.tensor([1.0, 5.0]), torch.tensor([1.0, 3.0])), torch.tensor(2.0)),
    inputs=lambda gen: [
        tuple(torch.randn(2, *size, generator=gen)) for size in [(4,), (5, 1), (1, 3), (2, 3, 4)]
    ],
    suspects={
        "this is the sum, not the mean": lambda predicted, target: (predicted - target).square().sum(),
        "the differences are not squared": lambda predicted, target: (predicted - target).mean(),
    },
)


def test_different_shapes(answer):
    """Different shapes are an error, also where broadcasting makes a table of them without a word."""
    for one, other in [
        ((4, 1), (4,)),
        ((3,), (3, 1)),
        ((4,), (1,)),
        ((2, 3), (3,)),
        ((2, 3), (2, 1)),
        ((2, 3), (3, 2)),
    ]:
        call = f"same_shape_or_error(predicted, target) with shapes {one} and {other}"
        expect_raises(ValueError, lambda one=one, other=other: run(answer, one, other), call)


def run(answer, one, other):
    return answer.same_shape_or_error(torch.ones(one), torch.ones(other))
