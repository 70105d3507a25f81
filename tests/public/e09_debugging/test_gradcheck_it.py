"""The worked example of gradcheck_it."""

import torch

from grader.checks import expect_equal


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        return 2 * ctx.saved_tensors[0] ** 2 * grad


class Sine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx, grad):
        return ctx.saved_tensors[0].cos() * grad


def test_worked_example(answer):
    """The cube has a wrong backward, the sine a right one."""
    functions = {"cube": Cube.apply, "sine": Sine.apply}
    suspects = {
        "these are the right ones": lambda: ["sine"],
        "both are named: are differences taken in float32?": lambda: ["cube", "sine"],
    }
    yours = answer.wrong_backwards(functions, [torch.tensor([0.5, 2.0])])
    expect_equal(yours, ["cube"], "wrong_backwards(functions, inputs)", suspects=suspects)
