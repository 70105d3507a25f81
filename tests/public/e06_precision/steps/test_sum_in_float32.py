"""The suite of sum_in_float32."""

import torch

from grader.checks.contract import Contract, given


def stuck(x):
    total = torch.zeros((), dtype=torch.bfloat16)
    for number in x.bfloat16():
        total = total + number
    return total


def numbers(gen):
    return {
        f"{n} numbers": given((scale * torch.rand(n, generator=gen)).bfloat16())
        for n, scale in [(40, 50), (300, 1), (500, 9)]
    }


contract = Contract(
    "sum_in_float32(x)",
    reference=lambda x: x.sum().float(),
    example=(given(torch.ones(300, dtype=torch.bfloat16)), torch.tensor(300.0)),
    inputs=numbers,
    ulps=64,
    suspects={
        "the sum is rounded to bfloat16: widen the numbers first, and return float32": lambda x: (
            x.sum().bfloat16()
        ),
        "the numbers are added up in bfloat16: widen them first": stuck,
    },
)
