"""The worked example of largest_batch."""

import pytest
import torch
from torch import nn

from grader.checks import expect_equal


@pytest.mark.parametrize(("room", "limit", "wanted"), [(37, 1000, 37), (37, 20, 20), (0, 1000, 0)])
def test_worked_example(answer, room, limit, wanted):
    """The largest number of rows that fits, up to the limit."""

    def attempt(rows):
        if rows > room:
            raise torch.OutOfMemoryError("CUDA out of memory.")

    suspects = {"the last power of 2 that fits: look between it and the next": lambda: 32}
    call = f"largest_batch(model, attempt, {limit=}), where {room} rows fit"
    expect_equal(answer.largest_batch(nn.Linear(2, 1), attempt, limit), wanted, call, suspects=suspects)
