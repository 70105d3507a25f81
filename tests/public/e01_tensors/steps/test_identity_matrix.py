"""The suite of identity_matrix."""

import torch

from grader.checks.contract import Contract, given


def sizes(gen):
    return [given(n, round(float(torch.rand((), generator=gen)) + 0.1, 3)) for n in (4, 2, 5, 3)]


contract = Contract(
    "mixer(n, volume)",
    reference=lambda n, volume: torch.full((n,), volume).diag(),
    example=(given(3, 0.5), [[0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.5]]),
    inputs=sizes,
    suspects={
        "each input is heard at all outputs: only the diagonal is not 0": lambda n, volume: torch.full(
            (n, n), volume
        ),
        "there are ones on the diagonal: multiply them by volume": lambda n, volume: torch.eye(n),
        "`+` adds volume to the zeros too: multiply by it": lambda n, volume: torch.eye(n) + volume,
        "this is one row: the table has n rows": lambda n, volume: torch.full((n,), volume),
    },
)
