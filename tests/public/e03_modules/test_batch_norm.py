"""The worked example of batch_norm, and what its layer registers."""

import torch

from grader.checks import expect_close
from grader.checks.registered import expect_registered


def test_worked_example(answer):
    """The worked example of the statement comes out: the batch, the running statistics, the prediction."""
    layer = answer.BatchNorm(1, momentum=0.5)
    x = torch.tensor([[1.0], [3.0]])
    wanted = torch.tensor([[-1.0], [1.0]])
    suspects = {
        "the unbiased variance normalises: it is for running_var alone": lambda: wanted / (2 + 1e-5) ** 0.5
    }
    expect_close(
        layer(x), wanted, "layer(x) in training mode", dims="batch feature", ulps=200, suspects=suspects
    )
    expect_close(layer.running_mean, torch.tensor([1.0]), "running_mean after layer(x)")
    suspects = {"running_var takes the biased variance: divide by n - 1": lambda: torch.tensor([1.0])}
    expect_close(layer.running_var, torch.tensor([1.5]), "running_var after layer(x)", suspects=suspects)
    layer.eval()
    wanted = torch.tensor([[2 / 1.5**0.5]])
    expect_close(layer(torch.tensor([[3.0]])), wanted, "layer(x) in evaluation mode", ulps=200)


def test_registered(answer):
    """Parameters and buffers have the names and shapes that the statement gives."""
    expect_registered(
        answer.BatchNorm(3),
        "BatchNorm(3)",
        parameters={"weight": [3], "bias": [3]},
        buffers={"running_mean": [3], "running_var": [3]},
    )
