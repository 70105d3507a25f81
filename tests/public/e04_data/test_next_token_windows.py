"""The worked examples of next_token_windows."""

import torch

from grader.checks.contract import Contract, given

TOKENS = torch.tensor([7, 3, 9, 4, 1, 8, 2])


contract = Contract(
    "next_token_windows(tokens, block, stride, offset)",
    dims="windows block",
    example=[
        (
            given(TOKENS, block=3, stride=2),
            (torch.tensor([[7, 3, 9], [9, 4, 1]]), torch.tensor([[3, 9, 4], [4, 1, 8]])),
        ),
        (given(TOKENS, block=3, stride=3, offset=1), (torch.tensor([[3, 9, 4]]), torch.tensor([[9, 4, 1]]))),
    ],
)
