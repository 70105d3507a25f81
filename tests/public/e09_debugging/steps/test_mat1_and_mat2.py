"""The suite of mat1_and_mat2."""

import torch
from torch import nn

from grader.checks import expect_close, expect_equal


def output(answer, classes, x):
    """What the network makes of x when all of its weights are 0.1."""
    model = answer.mat1_and_mat2(x.shape[1], classes)
    model(x)
    for parameter in model.parameters():
        nn.init.constant_(parameter, 0.1)
    return model(x).detach()


def wanted(classes, x, hidden=20):
    inside = (x.sum(1, keepdim=True) * 0.1 + 0.1).relu()
    return (inside * 0.1 * hidden + 0.1).expand(-1, classes)


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    yours = answer.mat1_and_mat2(8, 3)(torch.zeros(5, 8))
    expect_equal(tuple(yours.shape), (5, 3), "mat1_and_mat2(8, 3)(torch.zeros(5, 8)).shape")


def test_values(answer, gen):
    """Networks of other sizes give a row of scores for each row, from 20 hidden features."""
    for rows, features, classes in ((4, 6, 2), (1, 20, 10), (7, 30, 30)):
        x = torch.rand(rows, features, generator=gen)
        call = f"mat1_and_mat2({features}, {classes})(x), all weights 0.1"
        first = "the first layer has changed: mend the last one, 20 hidden features stay"
        expect_close(
            output(answer, classes, x),
            wanted(classes, x),
            call,
            suspects={first: lambda x=x, classes=classes: wanted(classes, x, hidden=30)},
        )


def oracle(answer, gen):
    sizes = [(4, 6, 2), (1, 20, 10), (7, 30, 30)]
    return {
        f"{rows} rows, {features} features, {classes} classes": output(
            answer, classes, torch.rand(rows, features, generator=gen)
        )
        for rows, features, classes in sizes
    }
