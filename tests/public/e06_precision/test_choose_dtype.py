"""The worked example of choose_dtype."""

import torch

from grader.checks.contract import Contract, given

X, IDS = torch.tensor([0.0, -2.5, 1000.0], dtype=torch.float64), torch.tensor([[50256, 11], [0, 13]])

floats = Contract(
    "float_for(smallest, largest, error)",
    example=[
        (given(0.001, 60000.0, error=0.001), torch.float16),
        (given(0.001, 70000.0, error=0.005), torch.bfloat16),
        (given(0.001, 70000.0, error=0.001), torch.float32),
        (given(0.00001, 1.0, error=0.001), torch.float32),
    ],
)

integers = Contract(
    "int_for(low, high)", example=[(given(0, 255), torch.uint8), (given(-1, 255), torch.int16)]
)

compact = Contract(
    "compact(x, error)",
    ulps=0.0,
    example=[(given(X, error=0.001), X.half()), (given(IDS, error=0.001), IDS.int())],
)
