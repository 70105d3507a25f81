"""The suite of slope_of_the_slope."""

import torch

from grader.checks.contract import Contract, given


def slopes(f, t, *, graph=True):
    """The slope, and the slope of it."""
    x = torch.tensor(t, requires_grad=True)
    (slope,) = torch.autograd.grad(f(x), x, create_graph=graph)
    return slope.detach(), torch.autograd.grad(slope, x)[0]


def draw(gen):
    a, b, t = (torch.randint(50, 150, (3,), generator=gen) / 100).tolist()
    return {
        "of a cubic": given(lambda x: a * x**3 - b * x, t),
        "of a sine": given(lambda x: torch.sin(a * x + b), -t),
        "of a logarithm": given(lambda x: b * torch.log(x) + a * x**2, 2 * t),
    }


contract = Contract(
    "slope_of_the_slope(f, t)",
    reference=lambda f, t: slopes(f, t)[1],
    use=lambda answer, f, t: torch.as_tensor(answer.slope_of_the_slope(f, t)).detach(),
    example=(given(lambda x: x**3, 3.0), torch.tensor(18.0)),
    inputs=draw,
    suspects={
        "the slope was not recorded: `create_graph=True` is missing": lambda f, t: slopes(f, t, graph=False)[
            1
        ],
        "this is the slope; the slope of it is wanted": lambda f, t: slopes(f, t)[0],
        "the slope and the slope of it were added up in .grad": lambda f, t: sum(slopes(f, t)),
        "this is the slope squared: take the slope of it": lambda f, t: slopes(f, t)[0] ** 2,
    },
)
