"""The worked example of feature_means, and the sum that stalls."""

import torch

from grader.checks import expect_close, expect_equal


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    batches = [torch.tensor([[1.0, 3.0], [2.0, 3.0]]).bfloat16(), torch.tensor([[6.0, 3.0]]).bfloat16()]
    suspects = {
        "a mean of the batches' means: weigh each by its rows": lambda: torch.tensor([3.75, 3.0]),
        "the sum of all rows: divide by their number": lambda: torch.tensor([9.0, 9.0]),
    }
    wanted = torch.tensor([3.0, 3.0])
    expect_equal(answer.feature_means(batches), wanted, "feature_means(batches)", suspects=suspects)


def test_ten_thousand_ones(answer):
    """The mean of 10,000 ones is 1."""
    batches = (torch.ones(1, 2, dtype=torch.bfloat16) for _ in range(10_000))
    suspects = {
        "the total is in bfloat16, where 256 + 1 is 256": lambda: torch.full((2,), 256 / 10_000),
        "the count is stuck at 256, in bfloat16": lambda: torch.full((2,), 10_000 / 256),
    }
    call = "feature_means of 10,000 ones in bfloat16"
    expect_close(answer.feature_means(batches), torch.ones(2), call, suspects=suspects)
