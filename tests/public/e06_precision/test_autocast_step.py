"""The worked example of autocast_step."""

import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_number

CALL = "autocast_step(model, loss_fn, optimizer, inputs, targets)"


def worked_example():
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 257.0)
    return model, torch.optim.SGD(model.parameters(), lr=0.5), torch.tensor([[1.0]]), torch.tensor([[0.5]])


def test_worked_example(answer):
    """The worked example of the statement comes out: a loss of 255.5, and the weight moves to 256.5."""
    model, optimizer, inputs, targets = worked_example()
    loss = answer.autocast_step(model, F.l1_loss, optimizer, inputs, targets)
    suspects = {
        "nothing is computed in bfloat16, where 257 is 256: autocast is off": lambda: 256.5,
        "the loss itself is rounded to bfloat16": lambda: 256.0,
    }
    expect_number(loss, 255.5, CALL, suspects=suspects)
    suspects = {
        "the weight is rounded to bfloat16: the model itself is converted": lambda: torch.tensor([[255.5]]),
        "the model itself is converted: its weights stay in float32": lambda: torch.tensor(
            [[255.5]]
        ).bfloat16(),
        "the weight is rounded to bfloat16 after the step": lambda: torch.tensor([[256.0]]),
    }
    weight, before = model.weight.detach(), torch.tensor([[257.0]])
    call = "the weight after autocast_step(…)"
    expect_close(weight, torch.tensor([[256.5]]), call, before=before, suspects=suspects)


def test_float16(answer):
    """float16 has three more binary digits than bfloat16: it can hold 257."""
    model, optimizer, inputs, targets = worked_example()
    loss = answer.autocast_step(model, F.l1_loss, optimizer, inputs, targets, dtype=torch.float16)
    suspects = {"the forward pass runs in bfloat16, not in dtype": lambda: 255.5}
    expect_number(loss, 256.5, "autocast_step(…, dtype=torch.float16)", suspects=suspects)
