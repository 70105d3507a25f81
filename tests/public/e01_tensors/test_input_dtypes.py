"""The contract of input_dtypes."""

import torch

from grader.checks.contract import Contract, given

contract = Contract(
    "model_inputs(token_ids, features, mask)",
    example=(
        given(
            torch.tensor([50256, 7], dtype=torch.uint16),
            torch.tensor([0.5, 2.0], dtype=torch.float64),
            torch.tensor([-1, 0], dtype=torch.int8),
        ),
        (torch.tensor([50256, 7]), torch.tensor([0.5, 2.0]), torch.tensor([True, False])),
    ),
)
