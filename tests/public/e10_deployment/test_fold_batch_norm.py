"""The worked example of fold_batch_norm."""

import torch
from torch import nn

from grader.checks import expect_close


def test_worked_example(answer):
    """Weight and bias of the worked example come out."""
    conv, norm = nn.Conv2d(1, 1, 1, bias=False), nn.BatchNorm2d(1, eps=0.0)
    with torch.no_grad():
        conv.weight.fill_(3.0)
        norm.running_mean.fill_(4.0)
        norm.running_var.fill_(0.25)
    folded = answer.fold(conv, norm)
    expect_close(folded.weight.detach(), torch.full((1, 1, 1, 1), 6.0), "the weight of fold(conv, norm)")
    expect_close(folded.bias.detach(), torch.tensor([-8.0]), "the bias of fold(conv, norm)")
