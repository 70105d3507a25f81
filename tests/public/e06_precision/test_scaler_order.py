"""The worked example of scaled_step."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal, expect_number

CALL = "scaled_step(model, loss_fn, optimizer, scaler, inputs, targets, max_norm=0.5)"


def worked_example(scale):
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 2.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=scale)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return model, (model, F.mse_loss, optimizer, scaler, torch.tensor([[1.0]]), torch.tensor([[1.0]]))


def test_worked_example(answer):
    """The worked example of the statement comes out: a loss of 1, a norm of 2, and a weight of 1.95."""
    for scale in (1024.0, 4096.0):
        model, args = worked_example(scale)
        loss, norm = answer.scaled_step(*args, max_norm=0.5)
        call = f"{CALL} with a scale of {scale:g}"
        expect_number(loss, 1.0, f"loss from {call}", suspects={"the scaled loss": lambda s=scale: s})
        suspects = {
            "the gradient is still scaled: unscale it before": lambda s=scale: 2 * s,
            "this is the norm after clipping": lambda: 0.5,
        }
        expect_number(norm, 2.0, f"norm from {call}", suspects=suspects)
        suspects = {
            "the gradient is not clipped": lambda: torch.tensor([[1.8]]),
            "it is clipped to norm 1, not to max_norm": lambda: torch.tensor([[1.9]]),
            "the scaled gradient is clipped, or it is divided by the scale twice": lambda s=scale: (
                torch.tensor([[2 - 0.05 / s]])
            ),
            "the gradient is divided by the scale, and scaler.step divides it again": lambda s=scale: (
                torch.tensor([[2 - 0.2 / s]])
            ),
        }
        weight, before = model.weight.detach(), torch.tensor([[2.0]])
        expect_close(
            weight, torch.tensor([[1.95]]), f"the weight after {call}", before=before, suspects=suspects
        )


def test_overflow(answer):
    """Where the scaled gradient overflows, no step is taken, and the scale is halved."""
    model, args = worked_example(scale=2.0**17)
    loss, _ = answer.scaled_step(*args)
    expect_number(loss, 1.0, "loss where a gradient overflows")
    suspects = {
        "a step is taken with a gradient of inf: scaler.step(optimizer) leaves it out": lambda: torch.tensor(
            [[math.nan]]
        ),
        "nothing overflows: the model is to run in float16, with a scaled loss": lambda: torch.tensor(
            [[1.9]]
        ),
    }
    call = "the weight where a gradient overflows"
    expect_equal(model.weight.detach(), torch.tensor([[2.0]]), call, suspects=suspects)
    expect_equal(args[3].get_scale(), 2.0**16, "the scale after a gradient that overflows")
