"""The suite of two_in_a_byte."""

import torch

from grader.checks.contract import Contract, given


def packed(x, times=16, low=lambda x: x[:, 0::2], high=lambda x: x[:, 1::2]):
    return (low(x).int() + times * high(x).int()).to(torch.uint8)


def halves(x):
    return packed(x, low=lambda x: x[:, : x.shape[1] // 2], high=lambda x: x[:, x.shape[1] // 2 :])


def draw(gen):
    return {
        f"{rows} rows of {columns}": torch.randint(16, (rows, columns), generator=gen, dtype=torch.uint8)
        for rows, columns in [(2, 6), (4, 4), (3, 8)]
    }


contract = Contract(
    "two_in_a_byte(x)",
    reference=packed,
    example=(
        given(torch.tensor([[1, 2, 15, 0]], dtype=torch.uint8)),
        torch.tensor([[33, 15]], dtype=torch.uint8),
    ),
    inputs=draw,
    dims="row byte",
    suspects={
        "the first is taken 16 times: that is the second's place": lambda x: packed(
            x, low=lambda x: x[:, 1::2], high=lambda x: x[:, 0::2]
        ),
        "the two halves of a row share bytes: neighbours are meant": halves,
        "the sum is shifted: + comes before <<, so put brackets around the shift": lambda x: (
            (x[:, 0::2] + x[:, 1::2]) << 4
        ),
        "shifted by less than four places: the two numbers mix": lambda x: packed(x, 2),
        "nothing is shifted: the second counts 16 times": lambda x: x[:, 0::2] | x[:, 1::2],
    },
)
