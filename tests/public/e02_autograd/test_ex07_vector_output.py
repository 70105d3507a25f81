"""The contract of vector_output."""

import torch

from grader.checks import expect_close, expect_equal, expect_gradient, expect_raises


def test_weighted_example(answer):
    """The worked example of weighted_backward comes out, and without weights each loss counts once."""
    w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    answer.weighted_backward(w**2, torch.tensor([1.0, 0.0, 0.5]))
    suspects = {"the weights are ignored": lambda: torch.tensor([2.0, 4.0, 6.0])}
    of = "w after weighted_backward(w ** 2, [1, 0, 0.5])"
    expect_gradient(w.grad, torch.tensor([2.0, 0.0, 3.0]), of, suspects=suspects)
    u = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    answer.weighted_backward(u**2)
    expect_gradient(u.grad, torch.tensor([2.0, 4.0, 6.0]), "w after weighted_backward(w ** 2)")


def test_vjp_example(answer):
    """The worked example of vjp comes out: the value and the product."""
    result = answer.vjp(
        lambda x: torch.stack([x[0] * x[1], x.sum()]), torch.tensor([2.0, 3.0]), torch.tensor([1.0, 10.0])
    )
    expect_equal((type(result), len(result)), (tuple, 2), "type and length of vjp(fn, x, v)")
    expect_close(result[0], torch.tensor([6.0, 5.0]), "vjp(fn, x, v)[0]")
    suspects = {
        "it is J @ v: v weighs the outputs, so v @ J is asked for": lambda: torch.tensor([23.0, 11.0]),
        "v is ignored: this is the gradient of the sum": lambda: torch.tensor([4.0, 3.0]),
    }
    expect_close(result[1], torch.tensor([13.0, 12.0]), "vjp(fn, x, v)[1]", suspects=suspects)


def test_wrong_shape(answer):
    """Weights of another shape get a ValueError."""
    w = torch.ones(3, requires_grad=True)
    expect_raises(
        ValueError,
        lambda: answer.weighted_backward(w**2, torch.ones(2)),
        "weighted_backward(losses, weights) with 3 losses and 2 weights",
    )
    expect_raises(
        ValueError, lambda: answer.vjp(torch.exp, torch.ones(3), torch.ones(4)), "vjp(exp, x, v) with 3 and 4"
    )
