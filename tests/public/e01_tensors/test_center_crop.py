"""The contract of center_crop."""

import torch

from grader.checks.contract import Contract, given

IMAGE = torch.arange(20).view(4, 5)
CROP = torch.tensor([[1, 2], [6, 7], [11, 12]])

contract = Contract(
    "center_crop(images, height, width)",
    example=[(given(IMAGE, 3, 2), CROP), (given(IMAGE.expand(2, 3, 4, 5), 3, 2), CROP.expand(2, 3, 3, 2))],
)
