"""The contract of gather_token_logprobs."""

import math

import torch

from grader.checks import expect_close, expect_equal


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    logits = torch.tensor([[[1.0, 1.0], [0.0, math.log(3.0)]]])
    targets = torch.tensor([[0, 1]])
    wanted = torch.tensor([[math.log(1 / 2), math.log(3 / 4)]])
    suspects = {
        "the logits are not normalised: log_softmax over the vocabulary comes first": lambda: logits.gather(
            2, targets[..., None]
        )[..., 0],
        "log_softmax runs over time: dim=-1 is the vocabulary": lambda: logits.log_softmax(1).gather(
            2, targets[..., None]
        )[..., 0],
        "the target 0 is taken for padding: it is a token like any other": lambda: wanted * (targets != 0),
    }
    yours = answer.token_logprobs(logits, targets)
    expect_close(yours, wanted, "token_logprobs(logits, targets)", dims="batch time", suspects=suspects)


def test_shape_and_dtype(answer):
    """(batch, time, vocab) becomes (batch, time); half precision comes back as float32."""
    logits, targets = torch.zeros(2, 3, 5, dtype=torch.bfloat16), torch.zeros(2, 3, dtype=torch.int64)
    logprobs = answer.token_logprobs(logits, targets)
    expect_equal(logprobs.shape, torch.Size([2, 3]), "the shape of token_logprobs(logits, targets)")
    expect_equal(logprobs.dtype, torch.float32, "the dtype of token_logprobs(logits, targets)")
