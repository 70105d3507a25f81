"""The contract of quantize and dequantize."""

import math

import torch

from grader.checks import expect_close, expect_equal, expect_raises


def worked_example():
    return torch.tensor([[63.5, -254.0, 1.0], [0.0, 0.5, -1.27]])


def test_worked_example(answer):
    """The worked example of the statement comes out, with one scale."""
    q, scale = answer.quantize(worked_example())
    expect_close(scale, torch.tensor(2.0), "the scale from quantize(x)")
    wanted = torch.tensor([[32, -127, 0], [0, 0, -1]], dtype=torch.int8)
    expect_equal(q, wanted, "q from quantize(x)", dims="row column")
    back = torch.tensor([[64.0, -254.0, 0.0], [0.0, 0.0, -2.0]])
    expect_close(answer.dequantize(q, scale), back, "dequantize(q, scale)", dims="row column")


def test_channels(answer):
    """The worked example of the statement comes out, with a scale for each row."""
    q, scale = answer.quantize(worked_example(), channel=0)
    expect_close(
        scale, torch.tensor([[2.0], [0.01]]), "the scale from quantize(x, channel=0)", dims="row one"
    )
    wanted = torch.tensor([[32, -127, 0], [0, 50, -127]], dtype=torch.int8)
    expect_equal(q, wanted, "q from quantize(x, channel=0)", dims="row column")


def test_zeros(answer):
    """Zeros have a scale of 1."""
    q, scale = answer.quantize(torch.zeros(2, 3))
    expect_equal(scale, torch.tensor(1.0), "the scale from quantize(zeros)")
    expect_equal(q, torch.zeros(2, 3, dtype=torch.int8), "q from quantize(zeros)")


def test_dtype(answer):
    """dequantize returns the dtype that it is asked for."""
    q, scale = torch.tensor([3, -5], dtype=torch.int8), torch.tensor(0.5)
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        wanted = torch.tensor([1.5, -2.5], dtype=dtype)
        expect_equal(answer.dequantize(q, scale, dtype), wanted, f"dequantize(q, scale, {dtype})")


def test_errors(answer):
    """inf, integers, and a channel that is not there, raise the named errors."""
    expect_raises(ValueError, lambda: answer.quantize(torch.tensor([1.0, math.inf])), "quantize(x) with inf")
    expect_raises(TypeError, lambda: answer.quantize(torch.tensor([1, 2])), "quantize(x) of integers")
    expect_raises(IndexError, lambda: answer.quantize(torch.ones(2, 3), channel=2), "quantize(x, channel=2)")
