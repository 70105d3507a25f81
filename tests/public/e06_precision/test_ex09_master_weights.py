"""The contract of MasterWeights."""

import torch
from torch import nn

from grader.checks import expect_close, expect_equal


def worked_example(answer):
    model = nn.Linear(1, 1, bias=False, dtype=torch.bfloat16)
    nn.init.constant_(model.weight, 1.0)
    training = answer.MasterWeights(model, lambda masters: torch.optim.SGD(masters, lr=0.001))
    model.weight.grad = torch.tensor([[1.0]], dtype=torch.bfloat16)
    return model, training


def test_worked_example(answer):
    """The worked example of the statement comes out: the second step moves the weight to 0.99609375."""
    model, training = worked_example(answer)
    for master, weight in ((0.999, 1.0), (0.998, 0.99609375)):
        training.step()
        before = torch.tensor([[master + 0.001]])
        yours = training.masters[0].detach()
        expect_close(yours, torch.tensor([[master]]), "the master after step()", before=before)
        expect_equal(
            model.weight.detach(), torch.tensor([[weight]], dtype=torch.bfloat16), "the weight after step()"
        )


def test_masters(answer):
    """Masters are a list of float32 tensors, and the optimizer holds them."""
    _, training = worked_example(answer)
    expect_equal(type(training.masters).__name__, "list", "the type of training.masters")
    expect_equal([str(m.dtype) for m in training.masters], ["torch.float32"], "the dtypes of the masters")
    held = [
        p is m for p, m in zip(training.optimizer.param_groups[0]["params"], training.masters, strict=True)
    ]
    expect_equal(held, [True], "whether training.optimizer holds training.masters")


def test_state_dict(answer):
    """A state dict has the masters and the optimizer in it; zero_grad lets go of the gradients."""
    model, training = worked_example(answer)
    training.step()
    expect_equal(sorted(training.state_dict()), ["masters", "optimizer"], "the keys of training.state_dict()")
    training.load_state_dict(training.state_dict())
    training.zero_grad()
    expect_equal(model.weight.grad is None, True, "whether `.grad` is None after zero_grad()")
