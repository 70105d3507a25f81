"""The worked example of capture_activations."""

import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_that, hooks_of


def test_worked_example(answer):
    """The worked example of the statement comes out, and no hook is left."""
    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    model[0].load_state_dict({"weight": torch.tensor([[1.0, 0.0], [0.0, 2.0]]), "bias": torch.zeros(2)})
    with answer.capture(model, ["0", "1"]) as seen:
        model(torch.tensor([[3.0, 4.0]]))
        model(torch.tensor([[0.0, 1.0]]))
    expect_equal(sorted(seen), ["0", "1"], "the names in seen")
    count = len(seen["0"])
    likely = {
        0: "a hook made in a loop sees the last name only: give it its name when it is made",
        1: "each call replaces what was captured: append to a list",
    }.get(count, "the hook runs more than once in a call")
    told = f'seen["0"] holds {count} outputs after two calls'
    expect_that(count == 2, told, likely=likely)
    for n, wanted in enumerate(([[3.0, 8.0]], [[0.0, 2.0]])):
        expect_close(seen["0"][n], torch.tensor(wanted), f'seen["0"][{n}]')
    expect_equal(hooks_of(model[0]), [], "the hooks on model[0] after the block")
