"""The contract of update_without_graph."""

import torch

from grader.checks import expect_close, expect_equal, expect_that


def test_worked_example(answer):
    """The worked example of the statement comes out: w moves to (0.8, -1.6), then to (0.56, -1.12)."""
    w = torch.tensor([1.0, -2.0], requires_grad=True)
    (w * w).sum().backward()
    expect_equal(answer.sgd_step([w], lr=0.1), 1, "sgd_step([w], lr=0.1)")
    before, moved = torch.tensor([1.0, -2.0]), torch.tensor([0.8, -1.6])
    expect_close(w.detach(), moved, "w after sgd_step([w], lr=0.1)", before=before)


def test_weight_decay(answer):
    """With weight_decay, that much of w is added to its gradient."""
    w = torch.tensor([1.0, -2.0], requires_grad=True)
    (w * w).sum().backward()
    answer.sgd_step([w], lr=0.1, weight_decay=0.5)
    suspects = {
        "weight_decay is ignored": lambda: torch.tensor([0.8, -1.6]),
        "weight_decay is not multiplied by lr": lambda: torch.tensor([0.3, -0.6]),
        "weight_decay pushes away from 0": lambda: torch.tensor([0.85, -1.7]),
    }
    call = "w after sgd_step([w], lr=0.1, weight_decay=0.5)"
    expect_close(
        w.detach(), torch.tensor([0.75, -1.5]), call, before=torch.tensor([1.0, -2.0]), suspects=suspects
    )


def test_next_backward(answer):
    """After a step w is still a leaf that requires gradients, and the next backward fills its `.grad`."""
    w = torch.tensor([1.0, -2.0], requires_grad=True)
    (w * w).sum().backward()
    answer.sgd_step([w], lr=0.5)
    expect_equal((w.is_leaf, w.requires_grad), (True, True), "(w.is_leaf, w.requires_grad) after a step")
    w.grad = None
    (3 * w).sum().backward()
    expect_that(w.grad is not None, "w gets no gradient in the backward after a step")
    expect_equal(w.grad, torch.tensor([3.0, 3.0]), "w.grad in the backward after a step")


def test_without_gradient(answer):
    """A parameter without a gradient stays where it is."""
    w = torch.tensor([1.0, -2.0], requires_grad=True)
    answer.sgd_step([w], lr=0.1, weight_decay=0.5)
    call = "w, which has no gradient, after sgd_step([w], lr=0.1, weight_decay=0.5)"
    moved = {
        "weight decay moves it: where there is no gradient, it stays": lambda: torch.tensor([0.95, -1.9])
    }
    expect_close(w.detach(), torch.tensor([1.0, -2.0]), call, suspects=moved)
