"""The suite of forward_under_autocast."""

import copy

import torch
from torch import nn

from grader.checks import expect_equal
from grader.checks.contract import Contract, given


def filled(model, gen):
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=gen))
    return model


def one_weight():
    model = nn.Linear(1, 1)
    nn.init.ones_(model.weight)
    nn.init.zeros_(model.bias)
    return model


def calls(gen):
    deep = nn.Sequential(nn.Linear(4, 9), nn.ReLU(), nn.Linear(9, 2))
    models = {
        "one layer": (nn.Linear(3, 5), 4, 3),
        "two layers": (deep, 6, 4),
        "one row": (nn.Linear(7, 3), 1, 7),
    }
    return {
        about: given(filled(model, gen), torch.randn(rows, features, generator=gen))
        for about, (model, rows, features) in models.items()
    }


def under_autocast(model, x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return model(x.float()).detach()


def test_weights_stay(answer):
    """The model's weights stay in float32."""
    model = one_weight()
    answer.forward_under_autocast(model, torch.tensor([[1.001]]))
    suspects = {"the model itself was cast: let autocast do that for each call": lambda: torch.bfloat16}
    call = "the dtype of the weight after forward_under_autocast(model, x)"
    expect_equal(model.weight.dtype, torch.float32, call, suspects=suspects)


contract = Contract(
    "forward_under_autocast(model, x)",
    reference=lambda model, x: under_autocast(model, x).float(),
    example=(given(one_weight(), torch.tensor([[1.001]])), [[1.0]]),
    inputs=calls,
    widens=False,
    use=lambda answer, model, x: answer.forward_under_autocast(copy.deepcopy(model), x),
    suspects={
        "autocast was off: the call of the model belongs into the block": lambda model, x: (
            copy.deepcopy(model).to(x.dtype)(x).detach()
        ),
        "the output is still in bfloat16: .float()": under_autocast,
        "only the output is rounded: the call of the model belongs into the block": lambda model, x: (
            copy.deepcopy(model).to(x.dtype)(x).detach().bfloat16().float()
        ),
    },
)
