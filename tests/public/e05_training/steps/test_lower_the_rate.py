"""The suite of lower_the_rate."""

from functools import partial

import pytest
import torch
from torch import nn

from grader.checks.contract import Contract, given

pytestmark = pytest.mark.filterwarnings("ignore")  # of steps in the wrong order: the checks tell


def train(optimizer, found):
    """Stands for an epoch of training; notes the rate that it finds."""
    found.append(float(optimizer.param_groups[0]["lr"]))
    optimizer.step()


def run(lower, lr, train, epochs):
    """The rates that each training found, those that are told, and the one afterwards."""
    optimizer, found = torch.optim.SGD([nn.Parameter(torch.zeros(1))], float(lr)), []
    rates = lower(optimizer, partial(train, optimizer, found), epochs)
    rate = float(optimizer.param_groups[0]["lr"])
    return {"the rates": rates, "the rates of the trainings": found, "the rate afterwards": rate}


def halved(lr, train, epochs, factor=0.5, told=0, trained=0):
    rates = [float(lr) * factor**epoch for epoch in range(epochs + 1)]
    return {
        "the rates": rates[told : epochs + told],
        "the rates of the trainings": rates[trained : epochs + trained],
        "the rate afterwards": rates[-1],
    }


def draw(gen):
    rates = torch.rand(4, generator=gen)
    return {f"for {epochs} epochs": given(rates[n], train, epochs) for n, epochs in enumerate((1, 2, 5, 8))}


contract = Contract(
    "lower_the_rate(optimizer, train, epochs)",
    reference=halved,
    example=(
        given(torch.tensor(0.8), train, 3),
        {
            "the rates": [0.8, 0.4, 0.2],
            "the rates of the trainings": [0.8, 0.4, 0.2],
            "the rate afterwards": 0.1,
        },
    ),
    inputs=draw,
    suspects={
        "the rate is noted after it was lowered: note it first": lambda *given: halved(*given, told=1),
        "the rate is lowered before the training: call scheduler.step() behind train()": (
            lambda *given: halved(*given, trained=1)
        ),
        "the rate stays as it is: call scheduler.step() in each epoch": lambda *given: halved(
            *given, factor=1.0
        ),
        "the rate becomes a tenth: that is StepLR's default, and gamma=0.5 halves it": (
            lambda *given: halved(*given, factor=0.1)
        ),
    },
    use=lambda answer, *given: run(answer.lower_the_rate, *given),
)
