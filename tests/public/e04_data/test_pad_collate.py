"""The worked example of pad_collate, and its default."""

import torch

from grader.checks.contract import Contract, given

SENTENCES, LENGTHS = [torch.tensor([5, 0, 2]), torch.tensor([7])], torch.tensor([3, 1])
MASK = torch.tensor([[True, True, True], [True, False, False]])

contract = Contract(
    "pad_collate(sequences, padding, multiple_of)",
    use=lambda answer, *args, **options: {
        part: getattr(answer.pad_collate(*args, **options), part, None)
        for part in ("values", "lengths", "mask")
    },
    example=[
        (
            given(SENTENCES, padding=-1),
            {"values": torch.tensor([[5, 0, 2], [7, -1, -1]]), "lengths": LENGTHS, "mask": MASK},
        ),
        (
            given(SENTENCES),
            {"values": torch.tensor([[5, 0, 2], [7, 0, 0]]), "lengths": LENGTHS, "mask": MASK},
        ),
    ],
)
