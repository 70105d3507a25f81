"""The contract of inplace_breaks_backward."""

import torch

from grader.checks import expect_close, expect_gradient, expect_raises, unchanged


def example():
    x = torch.tensor([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    return x, torch.tensor(0.5), torch.tensor([8.0, 0.0])


def test_worked_example(answer):
    """The worked example of the statement comes out, and the inputs stay as they were."""
    x, decay, initial = example()
    with unchanged("leaky_traces(x, decay, initial)", x=x, decay=decay, initial=initial):
        yours = answer.leaky_traces(x, decay=decay, initial=initial)
    wanted = torch.tensor([[5.0, 10.0], [4.5, 25.0], [6.25, 52.5]])
    expect_close(yours, wanted, "leaky_traces(x, decay, initial)", dims="time feature")


def test_learnable_decay(answer):
    """Backward works with a learnable decay, and gives the right gradient."""
    x, decay, initial = example()
    decay.requires_grad_()
    answer.leaky_traces(x, decay, initial)[-1].sum().backward()
    expect_gradient(decay.grad, torch.tensor(39.0), "decay through leaky_traces(x, decay, initial)[-1].sum()")


def test_wrong_shape(answer):
    """An initial trace of another shape gets a ValueError."""
    x, decay, _ = example()
    expect_raises(
        ValueError,
        lambda: answer.leaky_traces(x, decay, torch.zeros(3)),
        "leaky_traces(x, decay, initial) with two features in x and three in initial",
    )
