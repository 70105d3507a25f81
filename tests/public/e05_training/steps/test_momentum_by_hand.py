"""The suite of momentum_by_hand."""

import torch
from torch import nn

from grader.checks.contract import Contract, given


def run(momentum, p, v, lr, mu):
    """p and v after one call; p comes with its gradient."""
    value, gradient = p
    p, v = nn.Parameter(value.clone()), v.clone()
    p.grad = gradient.clone()
    momentum(p, v, lr, mu)
    return {"v": v, "p": p.detach()}


def by_hand(p, v, lr, mu, keep_v=False, keep_p=False, late=False):
    value, gradient = p
    new = mu * v + gradient
    return {"v": v if keep_v else new, "p": value if keep_p else value - lr * (v if late else new)}


def add_to_a_leaf(p, v, lr, mu):
    weight = p[0].float().requires_grad_()
    weight -= lr * v


def draw(gen):
    cases = {}
    for n in (1, 3, 6):
        value, gradient, v = torch.randn(3, n, generator=gen)
        lr, mu = torch.rand(2, generator=gen).tolist()
        cases[f"{n} numbers"] = given((value, gradient), v, lr, mu)
    return cases


contract = Contract(
    "momentum_by_hand(p, v, lr, mu)",
    reference=by_hand,
    example=(
        given((torch.tensor([1.5]), torch.tensor([3.0])), torch.tensor([2.0]), 0.1, 0.9),
        {"v": torch.tensor([4.8]), "p": torch.tensor([1.02])},
    ),
    inputs=draw,
    suspects={
        "p moves by the old v: change v first": lambda *given: by_hand(*given, late=True),
        "v itself does not change: `v = …` makes a new tensor, `v.mul_(…)` changes it": (
            lambda *given: by_hand(*given, keep_v=True)
        ),
        "p itself does not change: `p = …` makes a new tensor, `p.sub_(…)` changes it": (
            lambda *given: by_hand(*given, keep_p=True)
        ),
        "autograd records what is done to p: move it inside of torch.no_grad()": add_to_a_leaf,
    },
    use=lambda answer, *given: run(answer.momentum_by_hand, *given),
)
