"""The contract of autocast_step."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_raises


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
        "the loss is computed in bfloat16, too": lambda: 256.0,
    }
    call = "autocast_step(model, loss_fn, optimizer, inputs, targets)"
    expect_equal(loss, 255.5, call, suspects=suspects)
    suspects = {
        "the weight is rounded to bfloat16: the model itself is converted": lambda: torch.tensor([[255.5]]),
        "the weight is rounded to bfloat16 after the step": lambda: torch.tensor([[256.0]]),
    }
    weight, before = model.weight.detach(), torch.tensor([[257.0]])
    expect_close(
        weight, torch.tensor([[256.5]]), "the weight after autocast_step(…)", before=before, suspects=suspects
    )


def test_float16(answer):
    """float16 has three more binary digits than bfloat16: here it can hold 257."""
    model, optimizer, inputs, targets = worked_example()
    loss = answer.autocast_step(model, F.l1_loss, optimizer, inputs, targets, dtype=torch.float16)
    expect_equal(loss, 256.5, "autocast_step(…, dtype=torch.float16)")


@pytest.mark.parametrize("dtype", [torch.float32, torch.int8], ids=str)
def test_other_dtypes(answer, dtype):
    """A dtype that autocast cannot compute in raises ValueError."""
    model, optimizer, inputs, targets = worked_example()
    expect_raises(
        ValueError,
        lambda: answer.autocast_step(model, F.l1_loss, optimizer, inputs, targets, dtype=dtype),
        f"autocast_step(…, dtype={dtype})",
    )
