"""The worked example of attention."""

import torch

from grader.checks.contract import Contract, given

QUERY, KEY = torch.zeros(1, 3, 1, 1), torch.ones(1, 3, 1, 1)
VALUE = torch.tensor([1.0, 3.0, 5.0]).view(1, 3, 1, 1)
WANTED = {False: [[[[3.0]], [[3.0]], [[3.0]]]], True: [[[[1.0]], [[2.0]], [[3.0]]]]}
TWO_HEADS = (
    torch.zeros(1, 2, 2, 1),
    torch.ones(1, 2, 2, 1),
    torch.tensor([[[[1.0], [10.0]], [[3.0], [30.0]]]]),
)
"""Heads and time are told apart."""

contract = Contract(
    "attention(query, key, value)",
    example=[
        *((given(QUERY, KEY, VALUE, causal=causal), wanted) for causal, wanted in WANTED.items()),
        (given(*TWO_HEADS), torch.tensor([[[[2.0], [20.0]], [[2.0], [20.0]]]])),
    ],
    dims="batch time heads dim",
)
