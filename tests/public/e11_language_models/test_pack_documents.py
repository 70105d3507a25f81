"""The worked example of pack_documents."""

import torch

from grader.checks.contract import Contract, given

SEGMENTS = torch.tensor([[1, 1, 1, 2, 2, 0], [1, 1, 1, 1, 0, 0]])

pack = Contract(
    "pack(documents, length)",
    use=lambda answer, *args, **options: tuple(map(torch.as_tensor, answer.pack(*args, **options))),
    dims=("row token",) * 4,
    example=(
        given([[5, 6, 7], [8, 9], [1, 2, 3, 4]], length=6),
        (
            torch.tensor([[5, 6, 7, 8, 9, 0], [1, 2, 3, 4, 0, 0]]),
            torch.tensor([[-100, 6, 7, -100, 9, -100], [-100, 2, 3, 4, -100, -100]]),
            torch.tensor([[0, 1, 2, 0, 1, 0], [0, 1, 2, 3, 0, 0]]),
            SEGMENTS,
        ),
    ),
)
packed_mask = Contract(
    "packed_mask(segments)",
    use=lambda answer, segments: answer.packed_mask(segments)[0, 4],
    dims="looked_at",
    example=(SEGMENTS, torch.tensor([False, False, False, True, True, False])),
)
