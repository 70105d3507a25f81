"""The suite of read_a_sequence."""

import torch
from torch import nn

from grader.checks import expect_equal
from grader.checks.contract import Contract

HIDDEN = 5


def filled(reader):
    with torch.no_grad():
        for p in reader.parameters():
            p.copy_(torch.randn(p.shape, generator=torch.Generator().manual_seed(p.numel())))
    return reader


def lstm(x, first=True):
    outputs, (h, c) = filled(nn.LSTM(x.shape[2], HIDDEN, batch_first=first)).to(x.dtype)(x)
    return outputs.detach(), h.detach(), c.detach()


def test_worked_example(answer):
    """Eight series of 20 steps give eight hidden states of 5 numbers."""
    shape = list(answer.Reader(features=3, hidden=5)(torch.zeros(8, 20, 3)).shape)
    expect_equal(shape, [8, 5], "the shape of reader(torch.zeros(8, 20, 3))")


contract = Contract(
    "reader(x)",
    reference=lambda x: lstm(x)[0][:, -1],
    inputs=lambda gen: [torch.randn(size, generator=gen) for size in [(2, 4, 3), (3, 3, 3), (1, 6, 2)]],
    use=lambda answer, x: filled(answer.Reader(x.shape[2], HIDDEN))(x),
    dims="series hidden",
    suspects={
        "batch and time change places: batch_first=True is missing": lambda x: lstm(x, first=False)[1][0],
        "batch_first=True is missing": lambda x: lstm(x, first=False)[0][:, -1],
        "h still has its first dimension, of size 1": lambda x: lstm(x)[1],
        "this is c, the memory: h is wanted": lambda x: lstm(x)[2][0],
        "these are the hidden states of all time steps": lambda x: lstm(x)[0],
        "this is the hidden state after the first step": lambda x: lstm(x)[0][:, 0],
    },
)
