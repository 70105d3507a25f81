"""The suite of turn_a_pair."""

import math

import torch

from grader.checks.contract import Contract, given

X, Y, ANGLE = torch.tensor([3.0, 3.0]), torch.tensor([4.0, 4.0]), torch.tensor([0.0, 1.0])
C, S = math.cos(1), math.sin(1)


def turned(x, y, angle):
    return x * angle.cos() - y * angle.sin(), x * angle.sin() + y * angle.cos()


def one_after_the_other(x, y, angle):
    x, _ = turned(x, y, angle)
    return x, x * angle.sin() + y * angle.cos()


contract = Contract(
    "turn_a_pair(x, y, angle)",
    reference=turned,
    example=(
        given(X, Y, ANGLE),
        (torch.tensor([3.0, 3 * C - 4 * S]), torch.tensor([4.0, 3 * S + 4 * C])),
    ),
    inputs=lambda gen: {
        f"{time} positions": given(*(torch.randn(time, generator=gen) * s for s in (1, 1, 3)))
        for time in (3, 4, 7)
    },
    suspects={
        "y is made of the x that is turned already: it takes the x that was given": one_after_the_other,
        "signs: the minus stands in the first line, the plus in the second": lambda x, y, angle: turned(
            x, y, -angle
        ),
        "cos and sin change places": lambda x, y, angle: turned(x, y, math.pi / 2 - angle),
        "the angle is taken for degrees: radians are meant": lambda x, y, angle: turned(
            x, y, angle.deg2rad()
        ),
    },
)
