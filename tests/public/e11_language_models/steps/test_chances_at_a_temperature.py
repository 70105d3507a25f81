"""The suite of chances_at_a_temperature."""

import math

import torch

from grader.checks.contract import Contract, given


def softmax(x, dim=-1):
    return x.exp() / x.exp().sum(dim, keepdim=True)


contract = Contract(
    "chances_at_a_temperature(logits, temperature)",
    reference=lambda logits, temperature: softmax(logits / temperature),
    example=(
        given(torch.tensor([[0.0, 2.0]]), 2.0),
        torch.tensor([[1 / (1 + math.e), math.e / (1 + math.e)]]),
    ),
    inputs=lambda gen: {
        f"{batch} rows, temperature {temperature}": given(
            torch.randn(batch, vocab, generator=gen), temperature
        )
        for batch, vocab, temperature in [(2, 5, 0.5), (4, 4, 1.5), (3, 6, 3.0)]
    },
    dims="row token",
    suspects={
        "the chances are divided: divide the logits, before the softmax": (
            lambda logits, temperature: softmax(logits) / temperature
        ),
        "it is multiplied by the temperature: divide": lambda logits, temperature: softmax(
            logits * temperature
        ),
        "the temperature is left out": lambda logits, temperature: softmax(logits),
        "the softmax goes down the columns: each row has chances of its own": lambda logits, temperature: (
            softmax(logits / temperature, 0)
        ),
    },
)
