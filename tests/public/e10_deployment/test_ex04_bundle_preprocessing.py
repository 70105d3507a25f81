"""The contract of bundle_preprocessing."""

import io

import torch
from torch import nn

from grader.checks import expect_close, expect_equal, expect_raises


class Means(nn.Module):
    """One logit for each of two classes: minus the mean of the first channel, and the mean of the second."""

    def forward(self, x):
        return torch.stack([-x[:, 0].mean((1, 2)), x[:, 1].mean((1, 2))], 1)


WHITE = torch.full((1, 3, 2, 2), 255, dtype=torch.uint8)


def test_worked_example(answer):
    """The worked example of the statement comes out: 2.0 everywhere, and so a dog."""
    bundle = answer.Bundle(Means(), [0.5, 0.5, 0.5], [0.25, 0.25, 0.25], ["cat", "dog"])
    expect_close(bundle(WHITE), torch.tensor([[-2.0, 2.0]]), "bundle(pixels)", dims="batch classes")
    expect_equal(bundle.classify(WHITE), ["dog"], "bundle.classify(pixels)")
    expect_equal(list(bundle.labels), ["cat", "dog"], "list(bundle.labels)")


def test_saved_with_it(answer):
    """A bundle that was made with other numbers and labels takes them from a state dict."""
    bundle = answer.Bundle(Means(), [0.5, 0.5, 0.5], [0.25, 0.25, 0.25], ["cat", "dog"])
    other = answer.Bundle(Means(), [0.0] * 3, [1.0] * 3, ["?", "?"])
    file = io.BytesIO()
    torch.save(bundle.state_dict(), file)
    file.seek(0)
    other.load_state_dict(torch.load(file, weights_only=True))
    expect_close(other(WHITE), torch.tensor([[-2.0, 2.0]]), "other(pixels), after loading,")
    expect_equal(other.classify(WHITE), ["dog"], "other.classify(pixels), after loading,")


def test_grey_image(answer):
    """A grey image for a bundle of three channels is a ValueError."""
    bundle = answer.Bundle(Means(), [0.5, 0.5, 0.5], [0.25, 0.25, 0.25], ["cat", "dog"])
    expect_raises(ValueError, lambda: bundle(WHITE[:, :1]), "bundle(pixels) of one channel")


def test_other_pixels(answer):
    """Pixels of int64 are a TypeError."""
    bundle = answer.Bundle(Means(), [0.5, 0.5, 0.5], [0.25, 0.25, 0.25], ["cat", "dog"])
    expect_raises(TypeError, lambda: bundle(WHITE.long()), "bundle(pixels) in int64")
