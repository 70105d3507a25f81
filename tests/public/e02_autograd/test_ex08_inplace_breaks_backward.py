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
    suspects = {
        "every step shows the last trace: one tensor is written over": lambda: wanted[2].expand(3, 2),
        "the input fades, too: it is added after the decay": lambda: torch.tensor(
            [[4.5, 5.0], [3.25, 12.5], [3.625, 26.25]]
        ),
        "initial is ignored": lambda: torch.tensor([[1.0, 10.0], [2.5, 25.0], [5.25, 52.5]]),
    }
    call = "leaky_traces(x, decay, initial)"
    expect_close(yours, wanted, call, dims="time feature", suspects=suspects)


def test_learnable_decay(answer):
    """Backward works with a learnable decay, and gives the right gradient."""
    x, decay, initial = example()
    decay.requires_grad_()
    answer.leaky_traces(x, decay, initial)[-1].sum().backward()
    suspects = {"the trace is detached at every step": lambda: torch.tensor(29.5)}
    of = "decay through leaky_traces(x, decay, initial)[-1].sum()"
    expect_gradient(decay.grad, torch.tensor(39.0), of, suspects=suspects)


def test_wrong_shape(answer):
    """An initial trace of another shape gets a ValueError."""
    x, decay, _ = example()
    expect_raises(
        ValueError,
        lambda: answer.leaky_traces(x, decay, torch.zeros(3)),
        "leaky_traces(x, decay, initial) with two features in x and three in initial",
    )
