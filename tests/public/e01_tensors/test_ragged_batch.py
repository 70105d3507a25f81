"""The worked examples of ragged_batch."""

import torch

from grader.checks.contract import Contract, given

VALUES, OFFSETS = torch.tensor([5.0, 3.0, 8.0, 2.0, 9.0]), torch.tensor([0, 2, 2, 5])
TABLE = torch.tensor([[5.0, 3.0, 0.0], [0.0, 0.0, 0.0], [8.0, 2.0, 9.0]])
PADDED = torch.tensor([[5.0, 3.0, -1.0], [-1.0, -1.0, -1.0], [8.0, 2.0, 9.0]])

unpadded = Contract(
    "unpad(table, lengths)",
    example=(given(TABLE, torch.tensor([2, 0, 3])), (VALUES, OFFSETS)),
    use=lambda answer, table, lengths: tuple(answer.unpad(table, lengths)),
)

padded = Contract(
    "pad(values, offsets, padding)",
    example=(given(VALUES, OFFSETS, padding=-1.0), PADDED),
    dims="row time",
)
