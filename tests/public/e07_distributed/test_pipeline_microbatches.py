"""The worked example of pipeline_microbatches: two stages of one number each."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_number
from grader.checks.distributed import run_ranks


def step(rank, world_size, answer):
    stage = nn.Linear(1, 1, bias=False)
    nn.init.constant_(stage.weight, 2.0 + rank)
    loss = answer.pipeline_step(stage, F.mse_loss, torch.tensor([[1.0], [2.0]]), torch.zeros(2, 1), 2)
    return loss, stage.weight.grad


@pytest.mark.multi_process
def test_worked_example(answer):
    """The worked example of the statement comes out: losses, gradients, and the idle share."""
    call = "pipeline_step(stage, loss_fn, x, target, pieces=2)"
    (first, gradient), (loss, other) = run_ranks(2, step, answer=answer)
    expect_equal(first, None, f"{call} on rank 0")
    expect_number(loss, 90.0, f"{call} on rank 1")
    expect_close(gradient, torch.tensor([[90.0]]), "weight.grad on rank 0")
    expect_close(other, torch.tensor([[60.0]]), "weight.grad on rank 1")
    expect_number(answer.bubble_fraction(2, 2), 1 / 3, "bubble_fraction(2, 2)")
