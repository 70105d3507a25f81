"""The contract of device_agnostic."""

import math

import pytest
import torch

from grader.checks import expect_close, expect_equal


def test_worked_examples(answer):
    """The worked examples of the statement come out."""
    wanted = torch.tensor([[[0.0, 1.0], [math.sin(1.0), math.cos(1.0)]]])
    expect_close(
        answer.add_positions(torch.zeros(1, 2, 2)), wanted, "add_positions(x)", dims="batch time dim"
    )
    row = torch.tensor([math.sin(1.0), math.cos(1.0), math.sin(0.01), math.cos(0.01)])
    yours = answer.add_positions(torch.zeros(1, 2, 4))[0, 1]
    expect_close(yours, row, "add_positions(torch.zeros(1, 2, 4))[0, 1]", dims="dim")


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=str)
def test_dtype_is_kept(answer, dtype):
    """Sequences come back in their own shape and dtype."""
    y = answer.add_positions(torch.zeros(3, 5, 4, dtype=dtype))
    expect_equal(y.shape, torch.Size([3, 5, 4]), "the shape of add_positions(x)")
    expect_equal(y.dtype, dtype, "the dtype of add_positions(x)")


def test_no_gpu_no_float64_on_mps(answer, monkeypatch):
    """Without any GPU the device is the CPU; angles are float64, but float32 on mps."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    expect_equal(answer.pick_device(), torch.device("cpu"), "pick_device() without any GPU")
    expect_equal(answer.angle_dtype(torch.device("cpu")), torch.float64, 'angle_dtype(torch.device("cpu"))')
    expect_equal(answer.angle_dtype(torch.device("mps")), torch.float32, 'angle_dtype(torch.device("mps"))')
