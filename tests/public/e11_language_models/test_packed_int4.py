"""The worked example of packed_int4."""

import torch

from grader.checks.contract import Contract, given

WEIGHT = torch.tensor([[0.0, 1.2, 2.0, 15.0, -1.0, -0.9, -0.7, 0.5]])
PACKED = torch.tensor([[16, 242, 16, 243]], dtype=torch.uint8)
SCALES, LOWS = torch.tensor([[1.0, 0.1]]), torch.tensor([[0.0, -1.0]])

pack = Contract(
    "pack(weight, group_size)",
    example=(given(WEIGHT, 4), (PACKED, SCALES, LOWS)),
    dims=("row byte", "row group", "row group"),
)

unpack = Contract(
    "unpack(packed, scales, lows)",
    example=(given(PACKED, SCALES, LOWS), [[0.0, 1.0, 2.0, 15.0, -1.0, -0.9, -0.7, 0.5]]),
    dims="row column",
)
