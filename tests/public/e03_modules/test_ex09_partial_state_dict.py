"""The contract of partial_state_dict."""

import torch
from torch import nn

from grader.checks import expect_equal, expect_raises


def worked_example():
    model = nn.ModuleDict({"body": nn.Linear(3, 4), "head": nn.Linear(4, 5)})
    state = {
        "module.encoder.weight": torch.ones(4, 3),
        "module.head.weight": torch.ones(1000, 4),
        "module.queue": torch.ones(9),
    }
    return model, state, {"module.": "", "module.encoder.": "body."}


def test_report(answer):
    """The report of the worked example comes out."""
    report = answer.load_partial(*worked_example())
    expect_equal(report.loaded, ["body.weight"], "loaded")
    expect_equal(report.missing, ["body.bias", "head.bias"], "missing")
    expect_equal(report.unexpected, ["module.queue"], "unexpected")
    expect_equal(report.wrong_shape, {"head.weight": ((1000, 4), (5, 4))}, "wrong_shape")


def test_values(answer):
    """What fits is loaded, and the rest of the model stays as it was."""
    model, state, rename = worked_example()
    wanted = {name: t.clone() for name, t in model.state_dict().items()}
    wanted["body.weight"] = torch.ones(4, 3)
    answer.load_partial(model, state, rename)
    for name, right in wanted.items():
        expect_equal(model.state_dict()[name], right, f"{name} after load_partial(model, state, rename)")


def test_bad_input(answer):
    """A value that is no tensor raises TypeError; a state of which nothing fits, ValueError."""
    model = nn.Linear(2, 1)
    state = {"weight": torch.ones(1, 2), "epoch": 3}
    expect_raises(TypeError, lambda: answer.load_partial(model, state), "load_partial with an epoch")
    expect_raises(
        ValueError, lambda: answer.load_partial(model, {"w": torch.ones(1, 2)}), "load_partial with no match"
    )
