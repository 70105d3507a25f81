"""The contract of describe."""

import torch

from grader.checks import expect_equal


def test_worked_example(answer):
    """The worked example of the statement comes out, all nine keys of it."""
    weights = torch.arange(12.0).view(3, 4)
    wanted = {
        "shape": (4, 2),
        "rank": 2,
        "elements": 8,
        "dtype": torch.float32,
        "device": torch.device("cpu"),
        "requires_grad": False,
        "contiguous": False,
        "bytes": 32,
        "storage_bytes": 48,
    }
    expect_equal(answer.describe(weights[1:].t()), wanted, "describe(weights[1:].t())")


def test_single_number(answer):
    """A 0-d tensor has the shape (), rank 0 and one element."""
    record = answer.describe(torch.tensor(2.5))
    yours = {key: record[key] for key in ("shape", "rank", "elements", "bytes")}
    expect_equal(yours, {"shape": (), "rank": 0, "elements": 1, "bytes": 4}, "describe(torch.tensor(2.5))")
