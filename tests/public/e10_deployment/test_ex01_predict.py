"""The contract of predict."""

import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_raises, expect_that

INPUTS = torch.tensor([[1.0], [2.0], [3.0], [4.0], [5.0]])


def double_and_one():
    model = nn.Linear(1, 1)
    nn.init.constant_(model.weight, 2.0)
    nn.init.constant_(model.bias, 1.0)
    return model


def test_worked_example(answer):
    """The worked example of the statement comes out, in three calls of the model."""
    model, seen = double_and_one(), []
    model.register_forward_hook(lambda _model, args, _result: seen.append(len(args[0])))
    yours = answer.predict(model, INPUTS, batch_size=2)
    wanted = torch.tensor([[3.0], [5.0], [7.0], [9.0], [11.0]])
    expect_close(yours, wanted, "predict(model, inputs, batch_size=2)", dims="rows outputs")
    expect_equal(seen, [2, 2, 1], "the rows in each call of the model")


def test_modes_come_back(answer):
    """A dropout is off while the model runs, and on again afterwards."""
    model = nn.Dropout(0.5)
    expect_close(answer.predict(model, INPUTS), INPUTS, "predict(…) of a dropout")
    expect_that(model.training, "a model in training mode is in evaluation mode after predict(…)")


def test_ordinary_result(answer):
    """The result requires no gradient and can be changed in place."""
    yours = answer.predict(double_and_one(), INPUTS)
    expect_that(not yours.requires_grad, "the result of predict(…) requires a gradient")
    expect_that(not yours.is_inference(), "the result of predict(…) is a tensor made in inference mode")


def test_batch_size(answer):
    """A batch of no rows is a ValueError."""
    call = "predict(model, inputs, batch_size=0)"
    expect_raises(ValueError, lambda: answer.predict(double_and_one(), INPUTS, batch_size=0), call)
