"""The worked example of mlp_logits."""

import torch
from torch import nn

from grader.checks import expect_close, expect_equal


def test_sizes(answer):
    """There are three linear layers, 50 -> 30 -> 20 -> 3, and a logit for each class."""
    model = answer.Classifier()
    sizes = [(m.in_features, m.out_features) for m in model.modules() if isinstance(m, nn.Linear)]
    expect_equal(sizes, [(50, 30), (30, 20), (20, 3)], "the sizes of the linear layers of Classifier()")
    expect_equal(model(torch.zeros(8, 50)).shape, torch.Size([8, 3]), "the shape of Classifier()(x)")


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
