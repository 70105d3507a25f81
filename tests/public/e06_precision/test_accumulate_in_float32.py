"""The worked example of feature_means, and the sum that stalls."""

import torch

from grader.checks import expect_close, expect_that


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    batches = [torch.tensor([[1.0, 300.0], [2.0, 1.0]]).bfloat16(), torch.tensor([[7.0, 2.0]]).bfloat16()]
    wanted = torch.tensor([10.0, 303.0]) / 3
    suspects = {
        "a mean of the batches' means: weigh each by its rows": lambda: torch.tensor([4.25, 76.25]),
        "the sum of all rows: divide by their number": lambda: 3 * wanted,
        "the sum of each batch is rounded to 16 bits before it is added": lambda: (
            torch.tensor([10.0, 302]) / 3
        ),
        "the mean is rounded to 16 bits": lambda: wanted.bfloat16().float(),
        "the mean is in the dtype of the batches: add up in float32, and leave it there": wanted.bfloat16,
    }
    expect_close(answer.feature_means(batches), wanted, "feature_means(batches)", suspects=suspects)


def test_ten_thousand_ones(answer):
    """The mean of 10,000 ones is 1."""
    batches = (torch.ones(1, 2, dtype=torch.bfloat16) for _ in range(10_000))
    suspects = {
        "the total is in bfloat16, where 256 + 1 is 256": lambda: torch.full((2,), 256 / 10_000),
        "the count is stuck at 256, in bfloat16": lambda: torch.full((2,), 10_000 / 256),
    }
    call = "feature_means of 10,000 ones in bfloat16"
    yours = answer.feature_means(batches)
    told = f"{call} is no tensor: the batches come once, so there is nothing left for a second loop"
    expect_that(isinstance(yours, torch.Tensor), told, yours=yours)
    expect_close(yours, torch.ones(2), call, suspects=suspects)
