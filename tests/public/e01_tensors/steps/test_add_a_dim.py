"""The suite of add_a_dim."""

import torch

from grader.checks.contract import Contract

batch = Contract(
    "batch_of_one(image)",
    reference=lambda image: torch.stack([image]),
    inputs=lambda gen: [torch.randn(size, generator=gen) for size in [(3, 4, 5), (1, 2, 3)]],
    dims="batch channels height width",
)
column = Contract(
    "to_column(x)",
    reference=lambda x: x.reshape(len(x), 1),
    example=([3, 4], [[3], [4]]),
    inputs=lambda gen: [torch.randn(n, generator=gen) for n in (4, 1)],
    suspects={"the new dim comes first, and not second": lambda x: x.unsqueeze(0)},
)
back = Contract(
    "from_column(column)",
    reference=lambda column: column.reshape(len(column)),
    example=([[3], [4]], [3, 4]),
    inputs=lambda gen: {
        "three rows": torch.randn(3, 1, generator=gen),
        "a column of one number": torch.randn(1, 1, generator=gen),
    },
    suspects={
        "`squeeze()` without a number takes away every dim of size 1": lambda column: column.squeeze(),
        "`squeeze(0)` asks for dim 0, and its size is not 1: nothing goes away": lambda column: (
            column.squeeze(0)
        ),
    },
)
