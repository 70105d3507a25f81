"""The worked example of swish, and its graph."""

import torch

from grader.checks import expect_close, expect_gradient, expect_that


def test_worked_example(answer):
    """The worked example comes out, and its gradients with it."""
    x = torch.tensor([2.0, -4.0], requires_grad=True)
    beta = torch.tensor(0.0, requires_grad=True)
    y = answer.swish(x, beta)
    expect_close(y, torch.tensor([1.0, -2.0]), "swish(x, beta)")
    y.sum().backward()
    expect_gradient(x.grad, torch.tensor([0.5, 0.5]), "x through swish(x, beta).sum()")
    suspects = {
        "a mean over what beta was broadcast to: gradients add up": lambda: torch.tensor(2.5),
        "x is a factor once, and not twice": lambda: torch.tensor(-0.5),
    }
    expect_gradient(beta.grad, torch.tensor(5.0), "beta through swish(x, beta).sum()", suspects=suspects)
    suspects = {"scale is ignored": lambda: torch.tensor([1.0, -2.0])}
    yours = answer.swish(x, beta, scale=10.0)
    expect_close(yours, torch.tensor([10.0, -20.0]), "swish(x, beta, scale=10.0)", suspects=suspects)


def test_own_function(answer):
    """Swish is an autograd.Function, and swish is computed by it."""
    expect_that(issubclass(answer.Swish, torch.autograd.Function), "Swish is no torch.autograd.Function")
    y = answer.swish(torch.ones(3, requires_grad=True), torch.tensor(1.0))
    todo, names = [y.grad_fn], set()
    while todo:
        if node := todo.pop():
            names.add(type(node).__name__)
            todo += [before for before, _ in node.next_functions]
    graph = ", ".join(sorted(names))
    expect_that("SwishBackward" in names, "swish(x, beta) is no result of Swish.apply", graph=graph)
