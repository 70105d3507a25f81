"""The suite of my_first_module."""

import torch
from torch import nn

from grader.checks import expect_equal
from grader.checks.contract import Contract

HIDDEN, CLASSES = 7, 3


def filled(net):
    """The same numbers in all tensors of one size."""
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(torch.randn(p.shape, generator=torch.Generator().manual_seed(p.numel())))
    return net


def twin(x, between=nn.ReLU, last=nn.Identity, hidden=HIDDEN):
    layers = nn.Linear(x.shape[1], hidden), between(), nn.Linear(hidden, CLASSES), last()
    return filled(nn.Sequential(*layers)).to(x.dtype)(x).detach()


def test_worked_example(answer):
    """Five rows of 4 numbers give five rows of 3 scores, and the net has the numbers of two layers."""
    net = answer.Net(features=4, hidden=8, classes=3)
    expect_equal(list(net(torch.zeros(5, 4)).shape), [5, 3], "the shape of net(torch.zeros(5, 4))")
    suspects = {
        "the net does not know its layers: make them in `__init__`, as self.first and self.second": lambda: 0,
        "the net knows one layer only": lambda: 8 * 4 + 8,
    }
    count = sum(p.numel() for p in net.parameters())
    expect_equal(
        count,
        8 * 4 + 8 + 3 * 8 + 3,
        "the number of weights and biases in Net(features=4, hidden=8, classes=3)",
        suspects=suspects,
    )


contract = Contract(
    "net(x)",
    reference=twin,
    inputs=lambda gen: [torch.randn(rows, size, generator=gen) for rows, size in [(5, 4), (2, 6), (1, 9)]],
    use=lambda answer, x: filled(answer.Net(x.shape[1], HIDDEN, CLASSES))(x),
    suspects={
        "the ReLU between the layers is missing": lambda x: twin(x, nn.Identity),
        "the ReLU stands behind the second layer, not between the two": lambda x: twin(
            x, nn.Identity, nn.ReLU
        ),
        "the sizes are those of the example: take features, hidden and classes": lambda x: twin(x, hidden=8),
        "a second ReLU stands behind the last layer": lambda x: twin(x, last=nn.ReLU),
    },
)
