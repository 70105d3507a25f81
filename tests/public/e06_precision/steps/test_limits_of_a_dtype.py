"""The suite of limits_of_a_dtype."""

import torch

from grader.checks.contract import Contract, given

LIMITS = {
    torch.float16: (65504.0, 2.0**-10),
    torch.bfloat16: (2.0**128 - 2.0**120, 2.0**-7),
    torch.float32: (2.0**128 - 2.0**104, 2.0**-23),
    torch.float64: (float.fromhex("0x1.fffffffffffffp+1023"), 2.0**-52),
}


def shuffled(gen):
    order = torch.randperm(len(LIMITS), generator=gen).tolist()
    return {f"call {n}": given(list(LIMITS)[place]) for n, place in enumerate(order, start=1)}


contract = Contract(
    "limits_of_a_dtype(dtype)",
    reference=LIMITS.__getitem__,
    example=[(given(torch.float16), (65504.0, 0.0009765625))],
    inputs=shuffled,
    suspects={
        "this is the smallest number above 0: the step after 1 is wanted": lambda dtype: (
            LIMITS[dtype][0],
            torch.finfo(dtype).tiny,
        ),
        "this is the lowest number, below 0": lambda dtype: (-LIMITS[dtype][0], LIMITS[dtype][1]),
        "this is the number after 1: its distance from 1 is wanted": lambda dtype: (
            LIMITS[dtype][0],
            1 + LIMITS[dtype][1],
        ),
        "these are the limits of float16, whatever dtype is": lambda dtype: LIMITS[torch.float16],
        "the two change places": lambda dtype: LIMITS[dtype][::-1],
    },
)


def oracle(answer, gen):
    drawn = {
        about: torch.randperm(4, generator=gen)[:2] for about in ("two dtypes", "two more", "the last two")
    }
    return {
        about: lambda places=places: [answer.limits_of_a_dtype(list(LIMITS)[place]) for place in places]
        for about, places in drawn.items()
    }
