"""The suite of gate_it."""

import math

import torch

from grader.checks.contract import Contract, given


def silu(x):
    return x / (1 + (-x).exp())


contract = Contract(
    "gate_it(gate, value)",
    reference=lambda gate, value: silu(gate) * value,
    example=(
        given(torch.tensor([[0.0, 2.0]]), torch.tensor([[5.0, 3.0]])),
        torch.tensor([[0.0, 6 / (1 + math.exp(-2))]]),
    ),
    inputs=lambda gen: {
        f"{rows} rows of {features}": given(
            *(2 * torch.randn(rows, features, generator=gen) for _ in range(2))
        )
        for rows, features in [(2, 3), (4, 4), (1, 6)]
    },
    dims="row feature",
    suspects={
        "the value goes through silu, and it is the gate that should": lambda gate, value: silu(value) * gate,
        "that is a sigmoid: silu is x times its sigmoid": lambda gate, value: gate.sigmoid() * value,
        "silu is taken of the product": lambda gate, value: silu(gate * value),
        "relu is no silu: below 0 it is all 0": lambda gate, value: gate.relu() * value,
        "they are added: multiply": lambda gate, value: silu(gate) + value,
    },
)
