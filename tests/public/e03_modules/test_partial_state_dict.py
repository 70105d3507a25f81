"""The worked example of partial_state_dict."""

import torch
from torch import nn

from grader.checks import expect_equal


def worked_example():
    model = nn.ModuleDict({"body": nn.Linear(3, 4), "head": nn.Linear(4, 5)})
    state = {
        "module.encoder.weight": torch.ones(4, 3),
        "module.head.weight": torch.ones(1000, 4),
        "queue": torch.ones(9),
    }
    return model, state, {"module.encoder.": "body.", "module.": ""}


def test_worked_example(answer):
    """The report of the worked example comes out."""
    report = answer.load_partial(*worked_example())
    expect_equal(report.loaded, ["body.weight"], "loaded")
    expect_equal(sorted(report.missing), ["body.bias", "head.bias"], "missing, sorted,")
    expect_equal(report.unexpected, ["queue"], "unexpected")
    expect_equal(report.wrong_shape, {"head.weight": ((1000, 4), (5, 4))}, "wrong_shape")


def test_values(answer):
    """What fits is loaded, and the rest of the model stays as it was."""
    model, state, rename = worked_example()
    wanted = {name: t.clone() for name, t in model.state_dict().items()}
    wanted["body.weight"] = torch.ones(4, 3)
    answer.load_partial(model, state, rename)
    for name, right in wanted.items():
        expect_equal(model.state_dict()[name], right, f"{name} after load_partial(model, state, rename)")
