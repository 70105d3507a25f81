"""The suite of batch_to_the_device."""

import torch
from torch import nn

from grader.checks import expect_close, expect_that
from grader.checks.contract import Contract
from grader.checks.devices import is_simulated, on_host

LIKELY = {
    "features": "`features.to(device)` returns what lies there, and leaves features where they are",
    "labels": "the labels have to be moved as well",
}


def draw(gen):
    return [
        (nn.Linear(columns, 2), torch.randn(n, columns, generator=gen), torch.randn(n, generator=gen))
        for n, columns in [(4, 3), (1, 2), (6, 5)]
    ]


contract = Contract(
    "batch_to_the_device(model, features, labels)",
    reference=lambda model, features, labels: (features, labels),
    inputs=draw,
    suspects={
        "a module has no device of its own: ask one of its parameters": lambda model, *batch: model.device,
        "labels come second, features first": lambda model, features, labels: (labels, features),
    },
)


def test_on_the_device(answer, device, gen):
    """Features and labels come to where the model lies, with their numbers."""
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).to(device)
    batch = torch.randn(5, 3, generator=gen), torch.randn(5, generator=gen)
    found = answer.batch_to_the_device(model, *batch)
    for yours, wanted, (name, likely) in zip(found, batch, LIKELY.items(), strict=True):
        there = f"the {name} are not on the device of the model"
        expect_that(is_simulated(yours), there, yours=yours, wanted=f"on {device}", likely=likely)
        expect_close(on_host(yours), wanted, f"the {name} on the device")
