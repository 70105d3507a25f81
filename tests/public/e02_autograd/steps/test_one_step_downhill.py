"""The suite of one_step_downhill."""

import torch

from grader.checks import expect_close, expect_that


def learning(numbers):
    """A tensor that requires a gradient, and has one: 2 w."""
    w = numbers.clone().requires_grad_()
    (w**2).sum().backward()
    return w


def expect_step(answer, numbers, rate):
    w = learning(numbers)
    answer.one_step_downhill(w, rate)
    suspects = {
        "w is as before: `w = w - …` makes a new tensor, `w -= …` changes w": lambda: numbers,
        "the step goes uphill: take away, do not add": lambda: numbers + 2 * rate * numbers,
        "the gradient itself was taken away, not rate times the gradient": lambda: -numbers,
    }
    wanted = numbers - 2 * rate * numbers
    expect_close(w.detach(), wanted, f"w after one_step_downhill(w, {rate})", suspects=suspects)


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    expect_step(answer, torch.tensor([1.0, 2.0]), 0.1)


def test_values(answer, gen):
    """w has moved against its gradient, by rate times the gradient."""
    for size, rate in [(3, 0.2), (1, 0.05), (6, 0.3)]:
        expect_step(answer, torch.randn(size, generator=gen) + 3, rate)


def test_w_still_learns(answer, gen):
    """w requires a gradient afterwards, as before."""
    w = learning(torch.randn(3, generator=gen))
    answer.one_step_downhill(w, 0.1)
    expect_that(w.requires_grad, "w no longer requires a gradient after the step")


def oracle(answer, gen):
    cases = {}
    for about, rate in [("a small rate", 0.01), ("a larger rate", 0.2), ("a large rate", 0.4)]:
        w = learning(torch.randn(4, generator=gen))
        answer.one_step_downhill(w, rate)
        cases[about] = w.detach()
    return cases
