"""The worked example of sliding_windows."""

import torch

from grader.checks import expect_equal
from grader.checks.contract import Contract, given

X = torch.arange(12.0).view(3, 4)

contract = Contract(
    "windows(x, size, step)",
    example=[
        (
            given(X, size=2, step=1),
            [
                [[[0.0, 1.0], [4.0, 5.0]], [[1.0, 2.0], [5.0, 6.0]], [[2.0, 3.0], [6.0, 7.0]]],
                [[[4.0, 5.0], [8.0, 9.0]], [[5.0, 6.0], [9.0, 10.0]], [[6.0, 7.0], [10.0, 11.0]]],
            ],
        ),
        (given(X, size=2, step=2), [[[[0.0, 1.0], [4.0, 5.0]], [[2.0, 3.0], [6.0, 7.0]]]]),
    ],
)


def test_shares_storage_of_the_example(answer):
    """Windows share the memory of x, a clone does not."""
    x = X.clone()
    expect_equal(answer.shares_storage(x[1:, 2:], x), True, "shares_storage(x[1:, 2:], x)")
    expect_equal(answer.shares_storage(x, x.clone()), False, "shares_storage(x, x.clone())")
