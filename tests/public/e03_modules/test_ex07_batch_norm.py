"""The contract of batch_norm."""

import torch

from grader.checks import expect_close, expect_raises
from grader.checks.registered import expect_registered


def test_worked_example(answer):
    """The worked example of the statement comes out: the batch, the running statistics, the prediction."""
    layer = answer.BatchNorm(1, momentum=0.5)
    x = torch.tensor([[1.0], [3.0]])
    wanted, call = torch.tensor([[-1.0], [1.0]]), "layer(x) in training mode"
    suspects = {
        "the unbiased variance normalises: it is for running_var alone": lambda: wanted / (2 + 1e-5) ** 0.5
    }
    expect_close(layer(x), wanted, call, dims="batch feature", ulps=200, suspects=suspects)
    expect_close(layer.running_mean, torch.tensor([1.0]), "running_mean after layer(x)")
    expect_close(layer.running_var, torch.tensor([1.5]), "running_var after layer(x)")
    layer.eval()
    wanted = torch.tensor([[2 / 1.5**0.5]])
    expect_close(layer(torch.tensor([[3.0]])), wanted, "layer(x) in evaluation mode", ulps=200)


def test_registered(answer):
    """Parameters and buffers have the names and shapes of PyTorch's own batch norm."""
    expect_registered(
        answer.BatchNorm(3),
        "BatchNorm(3)",
        parameters={"weight": [3], "bias": [3]},
        buffers={"running_mean": [3], "running_var": [3], "num_batches_tracked": []},
    )


def test_bad_input(answer):
    """A wrong number of features, and a single value per feature in training, raise ValueError."""
    layer = answer.BatchNorm(3)
    expect_raises(ValueError, lambda: layer(torch.ones(4, 2)), "BatchNorm(3)(x) with two features")
    expect_raises(ValueError, lambda: layer(torch.ones(1, 3)), "BatchNorm(3)(x) with one row")
