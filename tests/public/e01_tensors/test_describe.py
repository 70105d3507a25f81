"""The contract of describe."""

import torch

from grader.checks.contract import Contract

contract = Contract(
    "describe(x)",
    example=(
        (torch.arange(12.0).view(3, 4)[1:].t(),),
        {
            "shape": (4, 2),
            "rank": 2,
            "elements": 8,
            "dtype": torch.float32,
            "device": torch.device("cpu"),
            "requires_grad": False,
            "contiguous": False,
            "bytes": 32,
            "storage_bytes": 48,
        },
    ),
    suspects={
        "the storage is counted, of which a view is a part": lambda x: {"bytes": 48},
        "the bytes of the view itself are counted: its storage is that of all it was cut from": lambda x: {
            "storage_bytes": 32
        },
    },
)
