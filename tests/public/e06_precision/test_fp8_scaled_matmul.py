"""The worked example of fp8_scaled_matmul."""

import torch

from grader.checks import expect_close, expect_equal

X = torch.tensor([[1.02, -8.96], [0.1, 4.1]])
Q = torch.tensor([[52.0, -448.0], [5.0, 208.0]])


def test_worked_example(answer):
    """The scale, the float8 numbers and the product of the worked example come out."""
    scale = answer.scale_of(X)
    expect_close(scale, torch.tensor(0.02), "scale_of(x)")
    q = answer.to_fp8(X, torch.tensor(0.02))
    expect_equal(q.dtype, torch.float8_e4m3fn, "the dtype of to_fp8(x, scale)")
    expect_equal(q.float(), Q, "to_fp8(x, scale)")
    q = Q.to(torch.float8_e4m3fn)
    yours = answer.scaled_matmul(q, q, torch.tensor(0.02), torch.tensor(0.02), torch.float32)
    wanted = torch.tensor([[0.1856, -46.5920], [0.5200, 16.4096]])
    expect_close(yours, wanted, "scaled_matmul(q, q, scale, scale, torch.float32)", scale=100.0)
