"""The suite of no_recording."""

import torch

from grader.checks import expect_that, saved_bytes
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
    suspects={"all products are added up: each row has its own sum, x @ w": lambda x, w: (x * w).sum()},
)


def test_nothing_is_recorded(answer, gen):
    """Nothing is recorded on the way, and the prediction requires no gradient."""
    x, w, results = torch.randn(4, 3, generator=gen), torch.randn(3, generator=gen, requires_grad=True), []
    kept = saved_bytes(lambda: results.append(answer.no_recording(x, w)))
    (y,) = results
    told = "x @ w was recorded: what no_recording(x, w) returns requires a gradient"
    likely = (
        "w requires a gradient, so what is made of it is recorded: `with torch.no_grad():` switches that off"
    )
    expect_that(not y.requires_grad, told, yours=y, wanted="y.requires_grad is False", likely=likely)
    told = "x @ w was recorded, and numbers were kept for backward"
    likely = "recorded first and detached then: compute it in a block under `with torch.no_grad():`"
    expect_that(kept == 0, told, yours=f"{kept} bytes", wanted="none", likely=likely)


def test_w_still_learns(answer, gen):
    """w requires a gradient afterwards, as before."""
    w = torch.randn(3, generator=gen, requires_grad=True)
    answer.no_recording(torch.randn(4, 3, generator=gen), w)
    expect_that(w.requires_grad, "w no longer requires a gradient: it was changed for everybody who uses it")
