"""The example of fit: new rows, and the accuracy."""

import math

import torch
from torch import nn

from grader.checks import expect_number, expect_that


def spiral(gen, rows):
    """Three arms, sorted by arm, in units of their own."""
    labels = torch.arange(rows) * 3 // rows
    radius = 0.1 + 0.9 * torch.rand(rows, generator=gen)
    angle = labels * 2 * math.pi / 3 + 6 * radius + 0.1 * torch.randn(rows, generator=gen)
    x, y = radius * angle.cos(), radius * angle.sin()
    return torch.stack([300 + 40 * x, -0.002 + 0.0005 * y], 1), labels


def test_three_arms(answer, gen):
    """On a spiral of three arms at least nine of ten new rows are right, and fit says how many."""
    train, valid, (features, labels) = spiral(gen, 384), spiral(gen, 100), spiral(gen, 600)
    result = answer.fit(train, valid, classes=3, seed=0)
    expect_that(isinstance(result, tuple) and len(result) == 2, "fit(…) returns no pair", yours=result)
    model, accuracy = result
    expect_that(isinstance(model, nn.Module), "the model is no nn.Module", yours=model)
    share = (model(features).argmax(-1) == labels).double().mean().item()
    expect_that(share >= 0.9, "too many new rows are wrong", yours=f"{share:.3f}", wanted="at least 0.9")
    share = (model(valid[0]).argmax(-1) == valid[1]).double().mean().item()
    suspects = {"this is in per cent": lambda: 100 * share}
    expect_number(accuracy, share, "the accuracy that fit(…) returns", suspects=suspects)
