"""The suite of which_dtype."""

import torch

from grader.checks.contract import Contract, given

KINDS = {
    "decimal ids and whole features": (torch.float32, torch.int64, torch.int64),
    "a file of float64": (torch.float64, torch.float64, torch.float64),
    "whole numbers of 32 bits": (torch.int32, torch.int32, torch.int32),
}


def columns(gen, *kinds):
    ids, features = torch.randint(1000, (6,), generator=gen), torch.randint(-9, 9, (6, 2), generator=gen)
    flags = torch.tensor([0, 1])[torch.randperm(6, generator=gen) % 2]
    return given(*(x.to(kind) for x, kind in zip((ids, features, flags), kinds, strict=True)))


contract = Contract(
    "which_dtype(ids, features, flags)",
    reference=lambda ids, features, flags: (ids.long(), features.float(), flags == 1),
    example=(
        given(torch.tensor([3.0, 7.0]), torch.tensor([[1, 2], [3, 4]]), torch.tensor([0, 1])),
        (torch.tensor([3, 7]), torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([False, True])),
    ),
    suspects={
        ".int() gives int32: int64 is called long": lambda ids, features, flags: (
            ids.int(),
            features,
            flags.int(),
        ),
        "that one is not converted": lambda *columns: columns,
        "the bools are the wrong way round: 1 is to be True": lambda ids, features, flags: (
            ids,
            features,
            flags == 0,
        ),
    },
    inputs=lambda gen: {told: columns(gen, *kinds) for told, kinds in KINDS.items()},
)
