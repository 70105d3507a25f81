"""The suite of fahrenheit."""

import torch

from grader.checks.contract import Contract

contract = Contract(
    "fahrenheit(celsius)",
    reference=lambda celsius: 9 * celsius / 5 + 32,
    example=([0.0, 100.0, 37.0], [32.0, 212.0, 98.6]),
    inputs=lambda gen: [20 * torch.randn(size, generator=gen) for size in [(5,), (3, 4), (2, 3, 4)]],
    suspects={
        "5 / 9 is for the way back: here it is 9 / 5": lambda celsius: 5 * celsius / 9 + 32,
        "32 is added before the multiplication, and is to be added after it": lambda celsius: (
            1.8 * (celsius + 32)
        ),
        "the two numbers are added before the multiplication: leave out the brackets": lambda celsius: (
            celsius * (1.8 + 32)
        ),
        "32 is not added": lambda celsius: 1.8 * celsius,
        "that is the way back, from Fahrenheit to Celsius": lambda celsius: (celsius - 32) / 1.8,
        "a list of rows of a table is no list of numbers: write it for the whole tensor, without a loop": (
            lambda celsius: torch.tensor([1.8 * c + 32 for c in celsius])
        ),
    },
)
