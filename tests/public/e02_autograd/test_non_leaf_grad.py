"""The contract of non_leaf_grad."""

import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that

CALL = "backward_with_activations(layers, inputs, loss_fn)"
WANTED = [[[12.0, -20.0]], [[6.0, -10.0]], [[6.0, -10.0]]]


def layers():
    return [lambda h: 2 * h, lambda h: h + 1]


def sum_of_squares(h):
    return h.square().sum()


def test_worked_example(answer):
    """The worked example of the statement comes out: one gradient for x and one behind each layer."""
    x = torch.tensor([[1.0, -3.0]])
    found = answer.backward_with_activations(layers(), x, sum_of_squares)
    without = {"the gradient for the inputs themselves is missing: it comes first": lambda: 2}
    expect_equal(len(found), 3, f"the number of gradients from {CALL}", suspects=without)
    for place, (gradient, wanted) in enumerate(zip(found, WANTED, strict=True)):
        suspects = {
            "the last layer comes first": lambda place=place: torch.tensor(WANTED[2 - place]),
            "these are the inputs: their gradient is asked for": lambda: x,
        }
        expect_close(gradient, torch.tensor(wanted), f"{CALL}[{place}]", suspects=suspects)


def test_inputs_are_left_alone(answer):
    """Inputs that require no gradients require none afterwards, and have no `.grad`."""
    x = torch.tensor([[1.0, -3.0]])
    answer.backward_with_activations(layers(), x, sum_of_squares)
    own = {"the caller's inputs are made to require gradients: make a leaf of their numbers": lambda: True}
    expect_equal(x.requires_grad, False, f"inputs.requires_grad after {CALL}", suspects=own)
    expect_that(x.grad is None, f"inputs has a `.grad` after {CALL}")


def test_parameters_get_gradients(answer):
    """A parameter has its gradient in `.grad` afterwards, as after loss.backward()."""
    scale = nn.Parameter(torch.tensor(2.0))
    answer.backward_with_activations([lambda h: scale * h], torch.tensor([1.0, -3.0]), sum_of_squares)
    expect_that(scale.grad is not None, f"a parameter has no `.grad` after {CALL}")
    expect_close(scale.grad, torch.tensor(40.0), f"the `.grad` of a parameter after {CALL}")
