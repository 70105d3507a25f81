"""The worked example of training_memory."""

import torch
from torch import nn

from grader.checks import expect_equal


def worked_example():
    return nn.Sequential(nn.Linear(1000, 500), nn.ReLU(), nn.Linear(500, 10))


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    wanted = {"parameters": 1011020, "gradients": 1011020, "master": 2022040, "optimizer": 4044080}
    wanted |= {"activations": 192000, "total": 8280160}
    call = "training_memory(model, batch=64, saved=1500, dtype=torch.bfloat16, master_weights=True)"
    yours = answer.training_memory(
        worked_example(), batch=64, saved=1500, dtype=torch.bfloat16, master_weights=True
    )
    expect_equal(yours, wanted, call)


def test_largest_batch(answer):
    """With 9 million bytes, 303 examples fit beside the model of the worked example."""
    yours = answer.largest_batch(
        worked_example(), saved=1500, budget=9_000_000, dtype=torch.bfloat16, master_weights=True
    )
    expect_equal(yours, 303, "largest_batch(model, saved=1500, budget=9_000_000, …)")
