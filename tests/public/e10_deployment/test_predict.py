"""The worked example of predict."""

import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that

INPUTS = torch.tensor([[1.0], [2.0], [3.0], [4.0], [5.0]])


def test_worked_example(answer):
    """The worked example of the statement comes out, in three calls of the model, without a graph."""
    model, seen = nn.Linear(1, 1), []
    nn.init.constant_(model.weight, 2.0)
    nn.init.constant_(model.bias, 1.0)
    model.register_forward_pre_hook(lambda _model, args: seen.append(len(args[0])))
    yours = answer.predict(model, INPUTS, batch_size=2)
    wanted = torch.tensor([[3.0], [5.0], [7.0], [9.0], [11.0]])
    suspects = {"the last, shorter batch is left out": lambda: wanted[:4]}
    call = "predict(model, inputs, batch_size=2)"
    expect_that(not getattr(yours, "requires_grad", False), f"{call} records a graph: it requires a gradient")
    expect_close(yours, wanted, call, dims="rows outputs", suspects=suspects)
    suspects = {
        "all rows come at once: batch_size is how many go into a call": lambda: [5],
        "there are batch_size calls: it is how many rows go into each": lambda: [3, 2],
    }
    expect_equal(seen, [2, 2, 1], "the rows in each call of the model", suspects=suspects)


def test_dropout(answer):
    """A dropout is off while the model runs."""
    yours = answer.predict(nn.Sequential(nn.Linear(1, 1), nn.Dropout(1.0)), INPUTS)
    expect_that(bool(yours.any()), "dropout drops in predict(…): the model runs in training mode")
