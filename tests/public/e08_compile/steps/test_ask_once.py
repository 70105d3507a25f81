"""The suite of ask_once."""

import torch

from grader.checks import expect_that
from grader.checks.contract import Contract, given
from grader.checks.devices import count_traffic


def losses(gen, n):
    return given(list(torch.rand(n, generator=gen) + 0.5))


contract = Contract(
    "ask_once(losses)",
    reference=lambda losses: sum(loss.item() for loss in losses) / len(losses),
    example=(given([torch.tensor(1.0), torch.tensor(3.0)]), 2.0),
    inputs=lambda gen: {f"of {n} losses": losses(gen, n) for n in (3, 5, 12)},
    suspects={
        "this is the sum, not the mean": lambda losses: sum(loss.item() for loss in losses),
        "this is the last loss": lambda losses: losses[-1].item(),
    },
)


def test_one_wait(answer, device):
    """Of the losses of an epoch on an accelerator, one number is asked for, once."""
    on_device = [torch.tensor(float(n), device=device) for n in range(1, 6)]
    with count_traffic() as traffic:
        answer.ask_once(on_device)
    what = "ask_once(losses) waits for the accelerator more than once for 5 losses"
    expect_that(traffic.syncs <= 1, what, yours=f"{traffic.syncs} waits", wanted="1 wait, at the end")
