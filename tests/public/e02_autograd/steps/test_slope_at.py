"""The suite of slope_at."""

import torch

from grader.checks.contract import Contract, given


def use(answer, f, t):
    slope = answer.slope_at(f, t)
    return torch.tensor(slope) if isinstance(slope, float) else slope


def slope(f, t):
    x = torch.tensor(t, requires_grad=True)
    return torch.autograd.grad(f(x), x)[0]


def unrecorded(f, t):
    f(torch.tensor(t)).backward()


def draw(gen):
    a, b, t = (torch.randint(50, 150, (3,), generator=gen) / 100).tolist()
    return {
        "of a cubic": (lambda x: a * x**3 - b * x, t),
        "of a sine": (lambda x: torch.sin(a * x + b), -t),
        "of a logarithm": (lambda x: b * torch.log(x) + a, 2 * t),
    }


contract = Contract(
    "slope_at(f, t)",
    reference=slope,
    use=use,
    example=(given(lambda x: x * x + 1, 3.0), torch.tensor(6.0)),
    inputs=draw,
    suspects={
        "t is a Python float: f wants a tensor that requires a gradient": lambda f, t: f(t).backward(),
        "nothing was recorded: the tensor needs requires_grad=True": unrecorded,
        "backward returns nothing: the slope is in the .grad of what f was given": lambda f, t: None,
        "this is f at t; its slope is in .grad": lambda f, t: f(torch.tensor(t)),
    },
)
