"""The worked example of patch_embedding."""

import torch

from grader.checks.contract import Contract, layer

STATE = {
    "proj.weight": torch.ones(1, 1, 2, 2),
    "proj.bias": torch.zeros(1),
    "class_token": torch.tensor([[[100.0]]]),
    "positions": torch.arange(7.0).view(1, 7, 1),
}
contract = Contract(
    "PatchEmbedding(image, patch, channels, dim)(images)",
    example=(
        layer((4, 6), 2, 1, 1, state=STATE)(torch.arange(24.0).view(1, 1, 4, 6)),
        [[[100.0], [15.0], [24.0], [33.0], [66.0], [75.0], [84.0]]],
    ),
    dims="image token dim",
)
