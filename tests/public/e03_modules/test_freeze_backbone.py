"""The worked example of freeze_backbone."""

import torch
from torch import nn

from grader.checks import expect_close, expect_equal


def test_worked_example(answer):
    """The worked example of the statement comes out."""
    backbone, head = nn.BatchNorm1d(1), nn.Linear(1, 1)
    head.load_state_dict({"weight": torch.tensor([[2.0]]), "bias": torch.tensor([1.0])})
    model = answer.FineTuned(backbone, head)
    model.train()
    wanted = torch.tensor([[8.99996], [12.99994]])  # eps of the batch norm is 1e-5
    result = model(torch.tensor([[4.0], [6.0]])).detach()
    expect_equal(backbone.running_mean, torch.tensor([0.0]), "backbone.running_mean after model(x)")
    expect_close(result, wanted, "model(x) in training mode")
    expect_equal(len(list(model.trainable_parameters())), 2, "len(model.trainable_parameters())")
    model.unfreeze()
    call = "len(model.trainable_parameters()) after model.unfreeze()"
    expect_equal(len(list(model.trainable_parameters())), 4, call)
