"""The suite of no_recording."""

import torch

from grader.checks import expect_that
from grader.checks.contract import Contract, given


def inputs(gen):
    sizes = [(2, 3), (4, 4), (5, 1)]
    return [(torch.randn(n, k, generator=gen), torch.randn(k, generator=gen)) for n, k in sizes]


contract = Contract(
    "no_recording(x, w)",
    reference=lambda x, w: x @ w,
    use=lambda answer, x, w: answer.no_recording(x, w.clone().requires_grad_()),
    example=(given(torch.tensor([[1.0, 3.0]]), torch.tensor([2.0, 1.0])), [5.0]),
    inputs=inputs,
)


def test_nothing_is_recorded(answer, gen):
    """The prediction requires no gradient."""
    w = torch.randn(3, generator=gen, requires_grad=True)
    y = answer.no_recording(torch.randn(4, 3, generator=gen), w)
    told = "x @ w was recorded: what no_recording(x, w) returns requires a gradient"
    expect_that(not y.requires_grad, told, yours=y, wanted="y.requires_grad is False")


def test_w_still_learns(answer, gen):
    """w requires a gradient afterwards, as before."""
    w = torch.randn(3, generator=gen, requires_grad=True)
    answer.no_recording(torch.randn(4, 3, generator=gen), w)
    expect_that(w.requires_grad, "w no longer requires a gradient: it was changed for everybody who uses it")
