"""The contract of gather_token_logprobs."""

import math

import torch

from grader.checks import expect_close, expect_equal


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    logits = torch.tensor([[[1.0, 1.0], [0.0, math.log(3.0)]]])
    targets = torch.tensor([[0, 1]])
    wanted = torch.tensor([[math.log(1 / 2), math.log(3 / 4)]])
    expect_close(
        answer.token_logprobs(logits, targets), wanted, "token_logprobs(logits, targets)", dims="batch time"
    )


def test_shape_and_dtype(answer):
    """(batch, time, vocab) becomes (batch, time); half precision comes back as float32."""
    logits, targets = torch.zeros(2, 3, 5, dtype=torch.bfloat16), torch.zeros(2, 3, dtype=torch.int64)
    logprobs = answer.token_logprobs(logits, targets)
    expect_equal(logprobs.shape, torch.Size([2, 3]), "the shape of token_logprobs(logits, targets)")
    expect_equal(logprobs.dtype, torch.float32, "the dtype of token_logprobs(logits, targets)")
