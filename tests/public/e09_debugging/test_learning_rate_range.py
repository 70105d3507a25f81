"""The rates of the worked example of learning_rate_range."""

import torch
from torch import nn

from grader.checks import expect_close, expect_equal

CALL = "range_test(model, optimizer, batches, loss_fn, low=0.001, high=10.0)"


def test_rates(answer):
    """Five batches are five steps, from low to high."""
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    batches = [(torch.ones(4, 2), torch.zeros(4, 1))] * 5
    small = lambda yours, right: 1e-3 * nn.functional.mse_loss(yours, right)  # noqa: E731
    pairs = answer.range_test(model, optimizer, batches, small, low=0.001, high=10.0)
    expect_equal(len(pairs), 5, f"the number of pairs of {CALL}")
    rates = torch.tensor([float(rate) for rate, _ in pairs])
    suspects = {
        "the rates grow by the same amount: by the same factor is asked for": lambda: torch.linspace(
            0.001, 10, 5
        )
    }
    expect_close(rates, torch.logspace(-3, 1, 5), f"the rates of {CALL}", suspects=suspects)
    expect_equal(optimizer.param_groups[0]["lr"], 0.5, f"the optimizer's lr, after {CALL}")
