"""The suite of square_with_a_backward."""

import torch

from grader.checks import expect_gradient
from grader.checks.contract import Contract


def expect_backward(answer, x, grad):
    x = x.clone().requires_grad_()
    answer.square(x).backward(grad)
    suspects = {
        "grad is left out: the gradient that comes in belongs into the product": lambda: 2 * x.detach(),
        "the slope 2 * x is left out": lambda: grad,
        "x stands there without the 2": lambda: grad * x.detach(),
        "the slope is taken at x * x: keep x in forward, not the result": lambda: 2 * grad * x.detach() ** 2,
    }
    expect_gradient(x.grad, 2 * grad * x.detach(), "square(x) for x", suspects=suspects)


contract = Contract(
    "square(x)",
    reference=lambda x: x * x,
    example=([3.0, -1.0], [9.0, 1.0]),
    inputs=lambda gen: [torch.randn(size, generator=gen) for size in [(4,), (2, 3), (1,)]],
    suspects={"this is 2 * x, the slope: forward gives the square": lambda x: 2 * x},
)


def test_worked_gradient(answer):
    """The gradient of the worked example comes out."""
    expect_backward(answer, torch.tensor([3.0, -1.0]), torch.tensor([10.0, 10.0]))


def test_gradient(answer, gen):
    """The gradient for x is the one that comes in, times 2 x."""
    for size in [(5,), (2, 3)]:
        expect_backward(answer, torch.randn(size, generator=gen), torch.randn(size, generator=gen))


def oracle(answer, gen):
    cases = {}
    for about, size in [("five numbers", (5,)), ("a table", (2, 3)), ("a column", (4, 1))]:
        x = torch.randn(size, generator=gen, requires_grad=True)
        y = answer.square(x)
        y.backward(torch.randn(size, generator=gen))
        cases[about] = [y.detach(), x.grad]
    return cases
