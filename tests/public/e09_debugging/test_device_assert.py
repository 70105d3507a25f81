"""The worked example of device_assert."""

import torch
from torch import nn

from grader.checks import expect_equal


def test_worked_example(answer):
    """The id 3 is found in its place, and nothing where all ids are in range."""
    model = nn.Sequential(nn.Embedding(3, 2), nn.Flatten(), nn.Linear(4, 1))
    mistakes = {
        "the place is counted in the flat ids": lambda: answer.BadId("0", 3, (2,)),
        "nothing is found": lambda: None,
        "0 is an id like any other": lambda: answer.BadId("0", 0, (0, 0)),
    }
    yours = answer.find_bad_id(model, torch.tensor([[0, 2], [3, 1]]))
    wanted = answer.BadId("0", 3, (1, 0))
    expect_equal(yours, wanted, "find_bad_id(model, [[0, 2], [3, 1]])", suspects=mistakes)
    expect_equal(answer.find_bad_id(model, torch.tensor([[0, 2], [1, 1]])), None, "find_bad_id(model, good)")
