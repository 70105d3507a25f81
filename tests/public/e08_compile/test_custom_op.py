"""The worked example of scan."""

import torch

from grader.checks import expect_close, expect_gradient

X, DECAY = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([0.5, 0.5, 0.25])


def test_worked_example(answer):
    """The states of the worked example come out."""
    expect_close(
        answer.scan(X.clone(), DECAY.clone()), torch.tensor([1.0, 2.5, 4.625]), "scan(x, decay)", dims="time"
    )


def test_gradients_example(answer):
    """The gradients of the worked example come out."""
    x, decay = X.clone().requires_grad_(), DECAY.clone().requires_grad_()
    answer.scan(x, decay).sum().backward()
    suspects = {
        "decay of the same step: for_x[t] takes decay[t + 1]": lambda: torch.tensor([1.75, 1.5, 1.0]),
        "from the first step to the last": lambda: torch.tensor([1.0, 1.5, 1.375]),
    }
    expect_gradient(x.grad, torch.tensor([1.625, 1.25, 1.0]), "scan(x, decay).sum() for x", suspects=suspects)
    suspects = {"the state of the same step": lambda: torch.tensor([1.625, 3.125, 4.625])}
    wanted = torch.tensor([0.0, 1.25, 2.5])
    expect_gradient(decay.grad, wanted, "scan(x, decay).sum() for decay", suspects=suspects)
