"""The worked examples of weighted_backward and vjp."""

import torch

from grader.checks import expect_close, expect_equal, expect_gradient


def test_weighted_example(answer):
    """The worked example of weighted_backward: with weights, and without."""
    w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    answer.weighted_backward(w**2, torch.tensor([1.0, 0.0, 0.5]))
    plain = torch.tensor([2.0, 4.0, 6.0])
    of = "w after weighted_backward(w ** 2, [1, 0, 0.5])"
    ignored = {"the weights are ignored": lambda: plain}
    expect_gradient(w.grad, torch.tensor([2.0, 0.0, 3.0]), of, suspects=ignored)
    w.grad = None
    answer.weighted_backward(w**2)
    mean = {"it is the gradient of the mean: without weights each loss counts 1": lambda: plain / 3}
    expect_gradient(w.grad, plain, "w after weighted_backward(w ** 2)", suspects=mean)


def test_vjp_example(answer):
    """The worked example of vjp: the value and the product."""
    fn = lambda x: torch.stack([x[0] * x[1], x.sum()])  # noqa: E731
    result = answer.vjp(fn, torch.tensor([2.0, 3.0]), torch.tensor([1.0, 10.0]))
    expect_equal((type(result), len(result)), (tuple, 2), "type and length of vjp(fn, x, v)")
    expect_close(result[0].detach(), torch.tensor([6.0, 5.0]), "vjp(fn, x, v)[0]")
    suspects = {
        "it is J @ v: v weighs the outputs, so v @ J is asked for": lambda: torch.tensor([23.0, 11.0]),
        "v is ignored: this is the gradient of the sum": lambda: torch.tensor([4.0, 3.0]),
    }
    expect_close(result[1].detach(), torch.tensor([13.0, 12.0]), "vjp(fn, x, v)[1]", suspects=suspects)
