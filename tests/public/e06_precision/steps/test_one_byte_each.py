"""The suite of one_byte_each."""

import torch

from grader.checks.contract import Contract


def quantized(x, scale=lambda x: x.abs().max() / 127, whole=torch.round):
    return whole(x / scale(x)).to(torch.int8), scale(x)


def numbers(gen):
    """Some near whole multiples of a scale, the largest size of them negative."""
    found = {}
    for n in (4, 10, 30):
        steps = torch.randint(-120, 120, (n,), generator=gen) + 0.8 * torch.rand(n, generator=gen) - 0.4
        steps[n // 2] = -127
        found[f"{n} numbers"] = steps * (0.01 + torch.rand((), generator=gen))
    return found


contract = Contract(
    "one_byte_each(x)",
    reference=quantized,
    example=([5.0, -25.4, 0.35], quantized(torch.tensor([5.0, -25.4, 0.35]))),
    inputs=numbers,
    suspects={
        "the numbers are cut off, not rounded: .round() comes before .to(torch.int8)": lambda x: quantized(
            x.float(), whole=torch.trunc
        ),
        "the largest number is taken, not the largest absolute value": lambda x: quantized(
            x, lambda x: x.max() / 127
        ),
        "the scale is the other way round: the largest absolute value divided by 127": lambda x: (
            quantized(x)[0],
            127 / x.abs().max(),
        ),
        "x is rounded as it is: it is divided by the scale before": lambda x: quantized(x, lambda x: 1.0),
        "divided by 128, not by 127": lambda x: quantized(x, lambda x: x.abs().max() / 128),
    },
)
