"""The contract of mlp_logits."""

import torch
from torch import nn

from grader.checks import expect_equal, expect_that
from grader.checks.registered import expect_registered


def test_parameters(answer):
    """There are three linear layers: 50 -> 30 -> 20 -> 3."""
    parameters = {
        "layers.0.weight": (30, 50),
        "layers.0.bias": (30,),
        "layers.2.weight": (20, 30),
        "layers.2.bias": (20,),
        "layers.4.weight": (3, 20),
        "layers.4.bias": (3,),
    }
    expect_registered(answer.Classifier(), "Classifier()", parameters=parameters)


def test_shape(answer):
    """Each sample gets a logit for each class."""
    logits = answer.Classifier()(torch.zeros(8, 50))
    expect_equal((logits.shape, logits.dtype), (torch.Size([8, 3]), torch.float32), "Classifier()(x)")


def test_sequential(answer):
    """The layers are in an nn.Sequential, with a ReLU between any two of them."""
    layers = answer.Classifier(5, [4], 2).layers
    expect_that(isinstance(layers, nn.Sequential), "model.layers is no nn.Sequential", yours=layers)
    kinds = [type(layer).__name__ for layer in layers]
    expect_equal(kinds, ["Linear", "ReLU", "Linear"], "the layers of Classifier(5, [4], 2)")


def test_logits(answer):
    """Logits may be of any size: the last bias comes out as it is, where all weights are 0."""
    model = answer.Classifier(5, (4,), 3)
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()
        model.layers[-1].bias.copy_(torch.tensor([-2.0, 0.5, 30.0]))
    logits, wanted = model(torch.ones(1, 5)), torch.tensor([[-2.0, 0.5, 30.0]])
    suspects = {"log_softmax is taken at the end": lambda: wanted.log_softmax(-1)}
    expect_equal(logits.detach(), wanted, "model(x) with the last bias [-2, 0.5, 30]", suspects=suspects)
