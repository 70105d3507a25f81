"""The worked example of per_sample_gradients and clipped_mean."""

import torch
from torch import nn

from grader.checks import expect_close, expect_equal

GRADS = torch.tensor([[[2.0, 4.0]], [[12.0, 16.0]]])


def test_gradients_example(answer):
    """The worked example of per_sample_gradients."""
    model = nn.Linear(2, 1, bias=False)
    model.load_state_dict({"weight": torch.tensor([[1.0, 0.0]])})
    x, y = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[0.0], [1.0]])
    grads = answer.per_sample_gradients(model, nn.functional.mse_loss, x, y)
    expect_equal(list(grads), ["weight"], "the names of per_sample_gradients(model, loss, x, y)")
    expect_close(grads["weight"].detach(), GRADS, "per_sample_gradients(model, loss, x, y)['weight']")


def test_clipped_mean_example(answer):
    """The worked example of clipped_mean."""
    found = answer.clipped_mean({"weight": GRADS}, max_norm=10.0)["weight"]
    expect_close(found.detach(), torch.tensor([[4.0, 6.0]]), "clipped_mean(grads, 10.0)['weight']")
