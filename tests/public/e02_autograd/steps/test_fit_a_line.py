"""The suite of fit_a_line."""

import torch

from grader.checks.contract import Contract, given

X = torch.tensor([0.0, 1.0, 2.0])


def descend(x, y, rate, kept=0.0, total=torch.mean, steps=100):
    """The line after so many steps, with `kept` of each gradient added to the next."""
    w = b = dw = db = torch.zeros((), dtype=x.dtype)
    for _ in range(steps):
        off = w * x + b - y
        dw, db = kept * dw + total(2 * off * x), kept * db + total(2 * off)
        w, b = w - rate * dw, b - rate * db
    return w, b


def without_gradient(x, y, rate):
    return rate * torch.zeros(()).grad


def without_record(x, y, rate):
    torch.zeros(()).backward()


def draw(gen):
    cases = {}
    for about, n, rate in [("three points", 3, 0.02), ("five points", 5, 0.05), ("eight points", 8, 0.1)]:
        x = torch.rand(n, generator=gen)
        cases[about] = given(x, 3 * x + torch.randn(n, generator=gen), rate)
    return cases


contract = Contract(
    "fit_a_line(x, y, rate)",
    reference=descend,
    example=(given(X, 2 * X + 1, 0.1), (torch.tensor(1.9993), torch.tensor(1.0009))),
    inputs=draw,
    ulps=1024,
    suspects={
        "the gradients are not cleared after each step, and add up": lambda *line: descend(*line, kept=1.0),
        "it is the sum of the squares that is made small: take their mean": lambda *line: descend(
            *line, total=torch.sum
        ),
        "one step is missing: there are 100": lambda *line: descend(*line, steps=99),
        "there is a step too many: there are 100": lambda *line: descend(*line, steps=101),
        "this is after one step": lambda *line: descend(*line, steps=1),
        "after `w = w - …` w is a new tensor, without a gradient: `w -= …` changes w": without_gradient,
        "after `w = w - …` w is a new tensor, and not recorded: `w -= …` changes w": without_record,
    },
)
