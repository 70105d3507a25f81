"""The worked example of MasterWeights."""

import torch
from torch import nn

from grader.checks import expect_close, expect_equal


def test_worked_example(answer):
    """The worked example of the statement comes out: the second step moves the weight to 0.99609375."""
    model = nn.Linear(1, 1, bias=False, dtype=torch.bfloat16)
    nn.init.constant_(model.weight, 1.0)
    training = answer.MasterWeights(model, lambda masters: torch.optim.SGD(masters, lr=0.001))
    model.weight.grad = torch.tensor([[1.0]], dtype=torch.bfloat16)
    for master, weight in ((0.999, 1.0), (0.998, 0.99609375)):
        training.step()
        yours, before = training.masters[0].detach(), torch.tensor([[master + 0.001]])
        suspects = {
            "the master is made anew of the rounded weight": lambda: torch.tensor([[0.999]]),
            "the gradients of both steps add up": lambda: torch.tensor([[0.997]]),
        }
        call = "the master after step()"
        expect_close(yours, torch.tensor([[master]]), call, before=before, suspects=suspects)
        wanted = torch.tensor([[weight]], dtype=torch.bfloat16)
        suspects = {"the weight is not written after the step": lambda: torch.ones(1, 1).bfloat16()}
        expect_equal(model.weight.detach(), wanted, "the weight after step()", suspects=suspects)
