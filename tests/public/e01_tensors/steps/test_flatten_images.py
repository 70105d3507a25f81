"""The suite of flatten_images."""

import torch

from grader.checks.contract import Contract

SIZES = [(2, 3, 4, 2), (3, 1, 2, 2), (1, 2, 3, 3)]

contract = Contract(
    "flatten_images(images)",
    reference=lambda images: torch.tensor([image.flatten().tolist() for image in images]),
    example=([[[[0, 1], [2, 3]]], [[[4, 5], [6, 7]]]], [[0, 1, 2, 3], [4, 5, 6, 7]]),
    inputs=lambda gen: [torch.randint(256, size, generator=gen) for size in SIZES],
    suspects={
        "all images are in one row: leave the first dim as it is": lambda images: images.flatten(),
        "the images are still apart by channel: flatten from dim 1 on": lambda images: images.flatten(2),
        "each row has one channel only: flatten from dim 1 on": lambda images: images.flatten(0, 1).flatten(
            1
        ),
        "each number has a row of its own, and each image is to have one": lambda images: images.flatten(1).T,
    },
)
