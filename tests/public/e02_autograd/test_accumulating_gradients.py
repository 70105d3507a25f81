"""The contract of batch_gradients."""

import torch
from torch import nn
from torch.nn import functional as F

from grader.checks import expect_close, expect_equal


def worked_example():
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 2.0)
    first = (torch.tensor([[1.0]]), torch.tensor([[1.0]]))
    second = (torch.tensor([[3.0]]), torch.tensor([[2.0]]))
    return model, [first, second]


def test_worked_example(answer):
    """The worked example of the statement comes out: 2 for the first batch, 24 for the second."""
    model, batches = worked_example()
    found = answer.batch_gradients(model, F.mse_loss, batches)
    expect_equal(len(found), 2, "the number of gradients from batch_gradients(model, loss_fn, batches)")
    for place, (gradients, wanted) in enumerate(zip(found, (2.0, 24.0), strict=True)):
        of = f"batch_gradients(model, loss_fn, batches)[{place}]"
        expect_equal(list(gradients), ["weight"], f"the names in {of}")
        suspects = {
            "the weights move between the batches: no step is asked for": lambda g=gradients: (
                g["weight"] if float(model.weight) != 2.0 else None
            ),
            "both batches are in it: every backward adds to `.grad`": lambda: torch.tensor([[26.0]]),
            "this is the mean of the batches so far: each has its own": lambda: torch.tensor([[13.0]]),
            "it is divided by its length: the gradient itself is asked for": lambda: torch.tensor([[1.0]]),
            "this is the last batch's: `.grad` itself is reported, and goes on changing": lambda: (
                torch.tensor([[24.0]])
            ),
        }
        call = f'{of}["weight"]'
        expect_close(gradients["weight"], torch.tensor([[wanted]]), call, suspects=suspects)


def test_a_second_call(answer):
    """A second call reports the same."""
    model, batches = worked_example()
    answer.batch_gradients(model, F.mse_loss, batches)
    again = answer.batch_gradients(model, F.mse_loss, batches)
    for gradients, wanted in zip(again, (2.0, 24.0), strict=True):
        expect_close(gradients["weight"], torch.tensor([[wanted]]), "the gradient in a second call")
