from collections.abc import Sequence

import torch
from jaxtyping import Int64, Shaped
from torch import Tensor


def collate_detections(
    samples: Sequence[tuple[Shaped[Tensor, "channels height width"], Shaped[Tensor, "_ 4"]]],
) -> tuple[Shaped[Tensor, "batch channels height width"], Shaped[Tensor, "total 4"], Int64[Tensor, "total"]]:
    if len(samples) == 0:
        raise ValueError("a batch needs at least one sample")
    first = samples[0][0].shape
    for number, (image, _) in enumerate(samples):
        if image.shape != first:
            raise ValueError(
                f"sample {number} has an image of {tuple(image.shape)}, sample 0 of {tuple(first)}"
            )
    images = torch.stack([image for image, _ in samples])  # (batch, channels, height, width)
    boxes = torch.cat([found for _, found in samples])  # (total, 4)
    owner = torch.cat(
        [torch.full((len(found),), number, device=found.device) for number, (_, found) in enumerate(samples)]
    )  # (total,)
    return images, boxes, owner
