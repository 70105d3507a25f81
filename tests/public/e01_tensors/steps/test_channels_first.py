"""The suite of channels_first."""

import torch

from grader.checks.contract import Contract

contract = Contract(
    "channels_first(image)",
    reference=lambda image: torch.stack([image[:, :, c] for c in range(image.shape[2])]),
    example=([[[1, 2, 3], [4, 5, 6]]], [[[1, 4]], [[2, 5]], [[3, 6]]]),
    inputs=lambda gen: [
        torch.randint(256, size, generator=gen) for size in [(2, 4, 3), (3, 3, 3), (4, 2, 1)]
    ],
    suspects={
        "the shape is right and the colours are mixed up: view and reshape move no number": lambda image: (
            image.reshape(image.shape[2], *image.shape[:2])
        ),
        "height and width are swapped: transpose(0, 2) swaps the channels with the height": lambda image: (
            image.transpose(0, 2)
        ),
        "the dims are (width, channels, height): permute names the old dims in their new order": (
            lambda image: image.permute(1, 2, 0)
        ),
    },
)
