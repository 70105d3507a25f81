"""The suite of which_are_real."""

import torch

from grader.checks.contract import Contract, given


def masked(ids, pad, dim=1):
    mask = torch.tensor([[one != pad for one in row] for row in ids.tolist()])
    return mask, torch.stack([column.sum() for column in mask.unbind(1 - dim)])


def draw(gen):
    found = {}
    for batch, time, pad in [(3, 5, 7), (4, 4, 1), (2, 6, 0)]:
        ids = torch.randint(8, (batch, time), generator=gen)
        ids[ids == pad] = 8
        for row, real in enumerate(torch.randint(1, time, (batch,), generator=gen).tolist()):
            ids[row, real:] = pad
        ids[0, 0] = 0 if pad else 8  # a real token of number 0
        found[f"{batch} texts, filled up with {pad}"] = given(ids, pad)
    return found


contract = Contract(
    "which_are_real(ids, pad)",
    reference=masked,
    example=(
        given(torch.tensor([[5, 3, 9], [4, 9, 9]]), 9),
        (torch.tensor([[True, True, False], [True, False, False]]), torch.tensor([2, 1])),
    ),
    inputs=draw,
    dims=("text time", "text"),
    suspects={
        "True stands where padding is: real tokens differ from pad": lambda ids, pad: (
            ids == pad,
            (ids == pad).sum(1),
        ),
        "pad is taken to be 0: compare with pad": lambda ids, pad: (ids != 0, (ids != 0).sum(1)),
        "the counts are those of each place: a text is a row, so sum along dim=1": lambda ids, pad: masked(
            ids, pad, 0
        ),
        "a real token may have a larger number than pad: real is what differs": lambda ids, pad: (
            ids < pad,
            (ids < pad).sum(1),
        ),
    },
)
