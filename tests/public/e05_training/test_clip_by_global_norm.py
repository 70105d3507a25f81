"""The contract of clip_by_global_norm."""

import torch

from grader.checks import expect_close, expect_equal


def with_gradients():
    w, b = torch.nn.Parameter(torch.zeros(2)), torch.nn.Parameter(torch.zeros(()))
    w.grad, b.grad = torch.tensor([2.0, -6.0]), torch.tensor(9.0)
    return w, b


def test_worked_example(answer):
    """The worked example of the statement comes out: a norm of 11, and gradients ten times shorter."""
    w, b = with_gradients()
    norm = answer.clip_by_global_norm([w, b], max_norm=1.1)
    suspects = {
        "the parameters' norms are added up: take the norm of all numbers": lambda: torch.tensor(40**0.5 + 9),
        "the largest norm: take the norm of all numbers": lambda: torch.tensor(9.0),
        "the square root is missing": lambda: torch.tensor(121.0),
        "this is the norm after clipping: the one before is asked for": lambda: torch.tensor(1.1),
    }
    expect_close(
        norm.detach(), torch.tensor(11.0), "clip_by_global_norm([w, b], max_norm=1.1)", suspects=suspects
    )
    before = torch.tensor([2.0, -6.0])
    suspects = {
        "each number is clipped by itself": lambda: torch.tensor([1.1, -1.1]),
        "each parameter is clipped by its own norm": lambda: before * 1.1 / before.norm(),
    }
    expect_close(
        w.grad.detach(), torch.tensor([0.2, -0.6]), "w.grad afterwards", before=before, suspects=suspects
    )
    expect_close(b.grad.detach(), torch.tensor(0.9), "b.grad afterwards", before=torch.tensor(9.0))


def test_short_enough(answer):
    """Gradients that are short enough stay as they are."""
    w, b = with_gradients()
    norm = answer.clip_by_global_norm([w, b], max_norm=20.0)
    expect_close(norm.detach(), torch.tensor(11.0), "clip_by_global_norm([w, b], max_norm=20.0)")
    expect_equal(w.grad, torch.tensor([2.0, -6.0]), "w.grad afterwards")
    expect_equal(b.grad, torch.tensor(9.0), "b.grad afterwards")
