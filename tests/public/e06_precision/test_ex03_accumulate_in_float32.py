"""The contract of feature_means."""

import pytest
import torch

from grader.checks import expect_close, expect_equal, expect_raises


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    batches = [torch.tensor([[1.0, 3.0], [2.0, 3.0]]).bfloat16(), torch.tensor([[6.0, 3.0]]).bfloat16()]
    suspects = {
        "a mean of the batches' means: weigh each by the number of its rows": lambda: torch.tensor(
            [3.75, 3.0]
        ),
    }
    wanted = torch.tensor([3.0, 3.0])
    expect_equal(answer.feature_means(batches), wanted, "feature_means(batches)", suspects=suspects)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_long_corpus(answer, dtype):
    """The mean of 10,000 ones is 1."""
    batches = (torch.ones(1, 2, dtype=dtype) for _ in range(10_000))
    stuck = 256.0 if dtype == torch.bfloat16 else 2048.0
    suspects = {
        f"the total is in {dtype}, where {stuck:g} + 1 is {stuck:g}": lambda: torch.full(
            (2,), stuck / 10_000
        ),
        "the count is rounded, or stuck, in another dtype": lambda: torch.full((2,), 10_000 / stuck),
    }
    call = f"feature_means of 10,000 ones in {dtype}"
    expect_close(answer.feature_means(batches), torch.ones(2), call, suspects=suspects)


def test_no_rows(answer):
    """Without any row there is no mean."""
    expect_raises(ValueError, lambda: answer.feature_means([]), "feature_means([])")
