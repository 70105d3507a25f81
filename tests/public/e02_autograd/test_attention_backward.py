"""The worked example of attention, and its graph."""

import torch

from grader.checks import expect_close, expect_gradient, expect_that


def test_worked_example(answer):
    """The worked example comes out, and its gradients with it."""
    numbers = {"q": [[1.0]], "k": [[0.0], [1.0986123]], "v": [[1.0], [5.0]]}
    tensors = {name: torch.tensor([rows], requires_grad=True) for name, rows in numbers.items()}
    y = answer.attention(*tensors.values())
    expect_close(y.detach(), torch.tensor([[[4.0]]]), "attention(q, k, v)")
    y.sum().backward()
    wanted = {"v": [[0.25], [0.75]], "k": [[-0.75], [0.75]], "q": [[0.8239593]]}
    for name, rows in wanted.items():
        of = f"{name} through attention(q, k, v)"
        expect_gradient(tensors[name].grad, torch.tensor([rows]), of, scale=5.0)


def test_own_function(answer):
    """attention is computed by Attention, an autograd.Function."""
    expect_that(issubclass(answer.Attention, torch.autograd.Function), "Attention is no autograd.Function")
    y = answer.attention(torch.ones(1, 2, 3, requires_grad=True), torch.ones(1, 4, 3), torch.ones(1, 4, 2))
    name = type(y.grad_fn).__name__
    told = "attention(q, k, v) is no result of Attention.apply"
    expect_that(name == "AttentionBackward", told, yours=f"the result of {name}")
