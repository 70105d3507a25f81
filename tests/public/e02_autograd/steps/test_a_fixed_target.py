"""The suite of a_fixed_target."""

import torch

from grader.checks import expect_gradient
from grader.checks.contract import Contract, given

SIZES = (1, 4, 9)


def squares(prediction, target):
    return (prediction - target) ** 2


contract = Contract(
    "a_fixed_target(prediction, target)",
    reference=lambda *pair: squares(*pair).mean(),
    example=(given(torch.tensor([6.0]), torch.tensor([3.0])), torch.tensor(9.0)),
    inputs=lambda gen: [(torch.randn(n, generator=gen), torch.randn(n, generator=gen)) for n in SIZES],
    gradient="prediction",
    suspects={
        "this is the sum of the squares: their mean is asked for": lambda *pair: squares(*pair).sum(),
        "the difference is not squared": lambda prediction, target: (prediction - target).mean(),
        "this is the size of the difference, and not its square": lambda prediction, target: (
            (prediction - target).abs().mean()
        ),
    },
)


def test_target_is_fixed(answer):
    """Backward reaches w through the prediction alone."""
    w = torch.tensor([2.0], requires_grad=True)
    answer.a_fixed_target(3 * w, w + 1).backward()
    suspects = {
        "backward went through the target as well: detach it": lambda: torch.tensor([12.0]),
        "the prediction was detached, and the target was not": lambda: torch.tensor([-6.0]),
    }
    expect_gradient(w.grad, torch.tensor([18.0]), "a_fixed_target(3 * w, w + 1) for w", suspects=suspects)
