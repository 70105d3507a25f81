"""The worked example of mlp_logits."""

import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_that


def test_sizes(answer):
    """There are three linear layers, 50 -> 30 -> 20 -> 3, and a logit for each class."""
    model = answer.Classifier()
    sizes = [(m.in_features, m.out_features) for m in model.modules() if isinstance(m, nn.Linear)]
    expect_equal(sizes, [(50, 30), (30, 20), (20, 3)], "the sizes of the linear layers of Classifier()")
    suspects = {"these are classes: the logits come out as they are": lambda: torch.Size([8])}
    shape = model(torch.zeros(8, 50)).shape
    expect_equal(shape, torch.Size([8, 3]), "the shape of Classifier()(x)", suspects=suspects)


def test_values(answer):
    """A hidden layer of two numbers: what is below 0 in it becomes 0."""
    model = answer.Classifier(2, (2,), 1)
    layers = [m for m in model.modules() if isinstance(m, nn.Linear)]
    told, likely = "Classifier(2, (2,), 1) has not two layers", "one hidden layer for each number in `hidden`"
    expect_that(len(layers) == 2, told, yours=f"{len(layers)} linear layers", likely=likely)
    biased = all(layer.bias is not None for layer in layers)
    expect_that(biased, "a linear layer has no bias", likely="bias=False: leave it out")
    hidden, last = layers
    with torch.no_grad():
        hidden.weight.copy_(torch.eye(2))
        last.weight.fill_(1.0)
        for layer in (hidden, last):
            layer.bias.zero_()
    x = torch.tensor([[3.0, -2.0]])
    functions = (torch.tanh, torch.sigmoid, F.gelu, F.silu, F.leaky_relu, F.elu)
    suspects = {f"the activation is {f.__name__}, not ReLU": lambda f=f: f(x).sum(1, True) for f in functions}
    suspects["there is no activation between the layers"] = lambda: x.sum(1, True)
    yours = model(x).detach()
    expect_close(yours, torch.tensor([[3.0]]), "model([[3, -2]]), which adds up", suspects=suspects)


def test_logits(answer):
    """Logits may be of any size: the last bias comes out as it is, where all weights are 0."""
    model, wanted = answer.Classifier(5, (4,), 3), torch.tensor([[-2.0, 0.5, 30.0]])
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()
        [m for m in model.modules() if isinstance(m, nn.Linear)][-1].bias.copy_(wanted[0])
    suspects = {
        "log_softmax is taken at the end": lambda: wanted.log_softmax(-1),
        "softmax is taken at the end": lambda: wanted.softmax(-1),
        "a ReLU follows the last layer, too": wanted.relu,
    }
    yours = model(torch.ones(1, 5)).detach()
    expect_close(yours, wanted, "model(x) with the last bias [-2, 0.5, 30]", suspects=suspects)
