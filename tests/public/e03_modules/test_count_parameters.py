"""The worked example of count_parameters."""

from torch import nn

from grader.checks import expect_equal


def counted(answer, model):
    return {name: int(number) for name, number in answer.count_parameters(model).items()}


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    model[0].bias.requires_grad_(False)
    wanted = {"total": 24, "trainable": 20, "bytes": 136}
    expect_equal(counted(answer, model), wanted, "count_parameters(model)")


def test_tied_layers(answer):
    """A weight with two names counts once."""
    model = nn.ModuleDict({"embedding": nn.Embedding(5, 3), "head": nn.Linear(3, 5, bias=False)})
    model["head"].weight = model["embedding"].weight
    wanted = {"total": 15, "trainable": 15, "bytes": 60}
    expect_equal(counted(answer, model), wanted, "count_parameters(model) with a tied weight")
