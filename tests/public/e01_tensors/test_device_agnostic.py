"""The contract of device_agnostic."""

import torch

from grader.checks import expect_equal
from grader.checks.contract import Contract

contract = Contract(
    "add_positions(x)",
    example=(torch.zeros(1, 2, 4), [[[0.0, 1.0, 0.0, 1.0], [0.8415, 0.5403, 0.0100, 0.99995]]]),
    dims="batch time dim",
)


def test_half_precision_stays(answer):
    """Sequences in float16 come back in float16."""
    y = answer.add_positions(torch.zeros(3, 5, 4, dtype=torch.float16))
    expect_equal(y.dtype, torch.float16, "the dtype of add_positions(x) of x in float16")


def test_no_gpu(answer, monkeypatch):
    """Without any GPU the device is the CPU, whose angles are float64."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    expect_equal(answer.pick_device(), torch.device("cpu"), "pick_device() without any GPU")
    expect_equal(answer.angle_dtype(torch.device("cpu")), torch.float64, 'angle_dtype(torch.device("cpu"))')
