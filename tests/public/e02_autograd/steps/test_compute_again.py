"""The suite of compute_again."""

import torch

from grader.checks import expect_gradient, expect_that
from grader.checks.contract import Contract, given


def draw(gen):
    a, b = torch.randn(2, generator=gen).tolist()
    return {
        "with a sine": (lambda x: torch.sin(a * x), torch.randn(4, generator=gen)),
        "with an exp": (lambda x: torch.exp(b * x) + x, torch.randn(2, 3, generator=gen)),
        "with two steps": (lambda x: torch.tanh(a * x) ** 2, torch.randn(5, generator=gen)),
    }


contract = Contract(
    "compute_again(block, x)",
    reference=lambda block, x: block(x),
    example=(given(torch.exp, torch.tensor([0.0, 1.0])), torch.tensor([1.0, 2.7183])),
    inputs=draw,
    suspects={"block runs on what it gave: hand x itself to checkpoint": lambda block, x: block(block(x))},
)


class Block:
    """The square, and how often it was computed."""

    runs = 0

    def __call__(self, x):
        self.runs += 1
        return x * x


def test_block_runs_again(answer, gen):
    """Backward runs the block once more, and finds its gradient."""
    block, x = Block(), torch.randn(4, generator=gen, requires_grad=True)
    y = answer.compute_again(block, x)
    expect_that(block.runs == 1, f"block ran {block.runs} times before backward, and once is enough")
    expect_that(y.requires_grad, "nothing was recorded: compute_again(block, x) requires no gradient")
    y.sum().backward()
    told = "block did not run again in backward: what it computed was kept"
    expect_that(block.runs == 2, told, likely="block was called as usual: let checkpoint call it")
    expect_gradient(x.grad, 2 * x.detach(), "compute_again(block, x) for x")


def oracle(answer, gen):
    cases = {}
    for about, (block, x) in draw(gen).items():
        y = answer.compute_again(block, x.requires_grad_())
        y.sum().backward()
        cases[about] = [y.detach(), x.grad]
    return cases
