"""The suite of half_and_bfloat16."""

import torch

from grader.checks.contract import Contract, given


def trips(x):
    return x.to(torch.float16).to(torch.float32), x.to(torch.bfloat16).to(torch.float32)


def numbers(gen):
    """Near 1, and large or small for float16: none of them is the same in both."""
    for size in [(3, 5), (7,), (2, 4)]:
        near = 1 + torch.rand(size, generator=gen)
        scales = torch.tensor([1.0, 3e5, 1e-6])
        yield given(near * scales[torch.randint(3, size, generator=gen)])


contract = Contract(
    "there_and_back(x)",
    reference=trips,
    example=(
        given(torch.tensor([1.001, 70000.0])),
        trips(torch.tensor([1.001, 70000.0])),
    ),
    inputs=lambda gen: list(numbers(gen)),
    suspects={
        "bfloat16 comes behind float16: cast x itself": lambda x: (trips(x)[0], trips(trips(x)[0])[1]),
        "the two change places": lambda x: trips(x)[::-1],
        "they are still in 2 bytes: cast back by `float()`": lambda x: (x.half(), x.bfloat16()),
        "nothing was rounded: cast to the dtype first, and then back": lambda x: (x, x),
    },
)
