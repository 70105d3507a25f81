"""The worked example of distances and entropy."""

import math

import torch

from grader.checks import expect_close, expect_gradient, expect_that

BOTH = "`where` derives both branches: 0 times an infinite slope is NaN. The {} must not see a 0"


def expect_no_nan(grad, of, function):
    there = grad is not None and bool(grad.isnan().any())
    expect_that(not there, f"NaN in the gradient of {of}", yours=grad, likely=BOTH.format(function))


def test_distances_of_the_example(answer):
    """The distances of the worked example come out, and a gradient without NaN."""
    points = torch.tensor([[0.0, 0.0], [3.0, 4.0]], requires_grad=True)
    yours, call = answer.distances(points, torch.zeros(1, 2)), "distances(points, centres)"
    expect_that(
        abs(float(yours[0, 0])) < 1e-3,
        "the distance of a point to its own place is not 0",
        yours=float(yours[0, 0]),
        likely="what keeps 0 from the root stays in the result: put 0 there afterwards",
    )
    expect_close(yours[1:].detach(), torch.tensor([[5.0]]), f"{call}[1:]")
    yours.sum().backward()
    expect_no_nan(points.grad, call, "root")
    lost = {"the gradients of all points are lost with that of one": lambda: torch.zeros(2, 2)}
    expect_gradient(points.grad, torch.tensor([[0.0, 0.0], [0.6, 0.8]]), call, suspects=lost)


def test_entropy_of_the_example(answer):
    """The entropy of the worked example comes out, and a gradient without NaN."""
    logits = torch.tensor([0.0, math.log(3.0), -200.0], requires_grad=True)
    yours, call = answer.entropy(logits.softmax(0)), "entropy(logits.softmax(0))"
    expect_close(yours.detach(), torch.tensor(0.562335), call, ulps=50)
    yours.backward()
    expect_no_nan(logits.grad, f"{call} for logits", "logarithm")
    expect_gradient(logits.grad, torch.tensor([0.205990, -0.205990, 0.0]), f"{call} for logits", scale=50.0)
