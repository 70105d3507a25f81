"""The worked example of tied_embedding, and that there is one parameter."""

import torch

from grader.checks import expect_close, expect_that


def made(answer):
    model = answer.TiedModel(vocab=3, dim=2)
    rows = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    numbers = {"body.weight": torch.eye(2), "body.bias": torch.zeros(2)}
    model.load_state_dict({"embed.weight": rows, "head.weight": rows} | numbers)
    return model


def test_worked_example(answer):
    """The worked example of the statement comes out, before and after grow."""
    model = made(answer)
    expect_close(model(torch.tensor([1])).detach(), torch.tensor([[0.0, 4.0, 2.0]]), "model(ids)")
    model.grow(4)
    wanted = torch.tensor([[0.0, 4.0, 2.0, 2.0]])
    expect_close(model(torch.tensor([1])).detach(), wanted, "model(ids) after model.grow(4)")


def test_one_parameter(answer):
    """The two layers hold one parameter."""
    model = made(answer)
    shared = model.head.weight.data_ptr() == model.embed.weight.data_ptr()
    told = "head.weight and embed.weight are two parameters" + (", which share memory" if shared else "")
    likely = "`.data` is a tensor without its parameter" if shared else "a copy is another parameter"
    expect_that(model.head.weight is model.embed.weight, told, likely=likely)
