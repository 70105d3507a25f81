"""The suite of check_my_backward."""

from functools import partial

import torch
from torch.autograd import gradcheck

from grader.checks.contract import Contract, given


class Square(torch.autograd.Function):
    """x², and a backward that is right where factor is 2."""

    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return ctx.factor * grad * x, None


def square(factor, x):
    return Square.apply(x, factor)


def draw(gen):
    x = torch.rand(2, 3, generator=gen) + 1
    return {
        "for a right sine": (torch.sin, x),
        "for a right square": (partial(square, 2.0), x),
        "for a square with a wrong slope": (partial(square, 1.0), x),
        "for a square with a slope that is a little wrong": (partial(square, 2.1), x),
    }


def judged(f, x, **options):
    return gradcheck(f, (x.requires_grad_(),), **options)


contract = Contract(
    "check_my_backward(f, x)",
    reference=lambda f, x: judged(f, x, raise_exception=False),
    example=(given(torch.exp, torch.tensor([0.5, 2.0])), True),
    inputs=draw,
    suspects={
        "it is True whatever f does: return what gradcheck finds": lambda f, x: True,
        "in float32 gradcheck sees mostly rounding: x.double() first": lambda f, x: judged(
            f, x.float(), raise_exception=False
        ),
        "gradcheck raises an error where f is wrong: raise_exception=False": lambda f, x: judged(
            f, x.double()
        ),
    },
)


def oracle(answer, gen):
    cases = {}
    for case in ("some squares", "other squares", "more squares"):
        factors = (1.0 + torch.randint(2, (8,), generator=gen)).tolist()
        x = torch.rand(3, generator=gen) + 1
        found = [answer.check_my_backward(partial(square, factor), x) for factor in factors]
        cases[case] = str(found)
    return cases
