"""The contract of grad_of_squares."""

import torch

from grader.checks import expect_close, expect_equal, expect_that

T, Y = torch.tensor([0.0, 1.0, 2.0]), torch.tensor([1.0, 3.0, 5.0])


def line_residuals(line):
    return line[0] + line[1] * T - Y


def test_worked_example(answer):
    """The worked example of the statement comes out: a sum of 5 and the gradient (-6, -10)."""
    value, gradient = answer.grad_of_squares(line_residuals, torch.tensor([1.0, 1.0]))
    suspects = {
        "it is the mean of the squares: their sum is asked for": lambda: torch.tensor(5 / 3),
        "it is half the sum: no factor is asked for": lambda: torch.tensor(2.5),
        "it is the square of the sum: squares are added up": lambda: torch.tensor(9.0),
        "it is the norm, the root of the sum of squares": lambda: torch.tensor(5**0.5),
    }
    call = "the value of grad_of_squares(residuals, params)"
    expect_close(value.detach(), torch.tensor(5.0), call, suspects=suspects)
    expect_close(gradient, torch.tensor([-6.0, -10.0]), "the gradient of grad_of_squares(residuals, params)")


def test_params_are_left_alone(answer):
    """params requires no more gradients than before, and its `.grad` stays empty."""
    params = torch.tensor([1.0, 1.0])
    answer.grad_of_squares(line_residuals, params)
    call = "params.requires_grad after grad_of_squares(residuals, params)"
    own = {"the caller's params is made to require gradients: make a leaf of its numbers": lambda: True}
    expect_equal(params.requires_grad, False, call, suspects=own)
    expect_that(params.grad is None, "params has a `.grad` after grad_of_squares(residuals, params)")
    expect_equal(params, torch.tensor([1.0, 1.0]), "params after grad_of_squares(residuals, params)")
