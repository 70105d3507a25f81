"""The worked example of bundle_preprocessing."""

import io

import torch
from torch import nn

from grader.checks import expect_close, expect_equal


class Means(nn.Module):
    """One logit for each of two classes: minus the mean of the first channel, and the mean of the second."""

    def forward(self, x):
        return torch.stack([-x[:, 0].mean((1, 2)), x[:, 1].mean((1, 2))], 1)


WHITE = torch.full((1, 3, 2, 2), 255, dtype=torch.uint8)


def test_worked_example(answer):
    """The worked example of the statement comes out: 2.0 everywhere, and so a dog."""
    bundle = answer.Bundle(Means(), [0.5, 0.0, 0.5], [0.25, 0.5, 0.25], ["cat", "dog"])
    wanted = torch.tensor([[-2.0, 2.0]])
    suspects = {
        "bytes are not divided by 255": lambda: torch.tensor([[-1018.0, 510.0]]),
        "the mean of all channels is subtracted": lambda: torch.tensor([[-8 / 3, 4 / 3]]),
    }
    expect_close(bundle(WHITE), wanted, "bundle(pixels)", dims="batch classes", suspects=suspects)
    least = {"this is the class with the smallest logit: the largest is the most likely": lambda: ["cat"]}
    expect_equal(bundle.classify(WHITE), ["dog"], "bundle.classify(pixels)", suspects=least)
    expect_equal(list(bundle.labels), ["cat", "dog"], "list(bundle.labels)")


def test_saved_with_it(answer):
    """A bundle that was made with other numbers and labels takes them from a state dict."""
    bundle = answer.Bundle(Means(), [0.5, 0.0, 0.5], [0.25, 0.5, 0.25], ["cat", "dog"])
    other = answer.Bundle(Means(), [0.0] * 3, [1.0] * 3, ["?", "?"])
    file = io.BytesIO()
    torch.save(bundle.state_dict(), file)
    file.seek(0)
    other.load_state_dict(torch.load(file, weights_only=True))
    suspects = {"mean and std are not in the state dict": lambda: torch.tensor([[-1.0, 1.0]])}
    call = "other(pixels), after loading,"
    expect_close(other(WHITE), torch.tensor([[-2.0, 2.0]]), call, suspects=suspects)
    suspects = {"the labels are not in the state dict": lambda: ["?"]}
    expect_equal(other.classify(WHITE), ["dog"], "other.classify(pixels), after loading,", suspects=suspects)
