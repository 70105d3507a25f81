"""The suite of who_made_the_nan."""

import warnings

import torch

from grader.checks import expect_raises, expect_that
from grader.checks.contract import Contract, given

LOSSES = {
    "of cubes": lambda x: (x**3).sum(),
    "of roots": lambda x: x.sqrt().sum(),
    "of a quotient": lambda x: (x[0] / x[1:]).sum(),
}


def run(answer, fn, x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that detection is slow, it says
        return answer.who_made_the_nan(fn, x.clone().requires_grad_())


contract = Contract(
    "who_made_the_nan(fn, x)",
    reference=lambda fn, x: torch.autograd.grad(fn(x.requires_grad_()), x)[0],
    use=run,
    example=(given(lambda x: x * x.sqrt(), torch.tensor(4.0)), torch.tensor(3.0)),
    inputs=lambda gen: {about: given(fn, torch.rand(4, generator=gen) + 0.5) for about, fn in LOSSES.items()},
    suspects={"this is fn(x): the gradient, in x.grad, is asked for": lambda fn, x: fn(x)},
)


def test_error(answer):
    """A NaN in the backward is an error that names the operation, and reaches the caller."""
    call, zero = "who_made_the_nan(lambda x: x * x.sqrt(), zero)", torch.zeros(())
    expect_raises(
        RuntimeError, lambda: run(answer, lambda x: x * x.sqrt(), zero), call, words="SqrtBackward0"
    )


def test_forward_line(answer):
    """The warning shows the line of fn, as the forward runs under anomaly detection too."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        call = "who_made_the_nan(fn, zero)"
        zero = torch.zeros((), requires_grad=True)
        expect_raises(RuntimeError, lambda: answer.who_made_the_nan(lambda x: x * x.sqrt(), zero), call)
    told = any("Traceback of forward call" in str(one.message) for one in seen)
    expect_that(told, f"{call} does not tell the line of fn: fn(x) too has to run inside the `with` block")
