"""Collate a detection batch: `stack` makes a new dimension, `cat` prolongs one that is there.

A sample is an image and the boxes around its objects, perhaps none. All images have one shape. Make one batch of the
samples, the tuple (images, boxes, owner):

- images, (batch, channels, height, width);
- boxes, (total, 4): those of image 0, then those of image 1, and so on;
- owner, (total,), int64: the number of the image that each box belongs to.

    samples = [(torch.zeros(3, 8, 8), torch.tensor([[0.0, 0.0, 4.0, 4.0], [1.0, 1.0, 2.0, 2.0]])),
               (torch.ones(3, 8, 8), torch.tensor([[5.0, 5.0, 3.0, 3.0]]))]
    images, boxes, owner = collate_detections(samples)
    images.shape, boxes.shape, owner       # (2, 3, 8, 8), (3, 4), [0, 0, 1]

The code below takes the wrong one, both times: images come out as (6, 8, 8), and boxes raise "stack expects each tensor
to be equal size".

Fine print:
- Dtypes are kept. Where no image has a box, boxes is (0, 4), and owner still int64.
- All three lie on the samples' device and have memory of their own; the samples stay as they are.
- Tensors all the way, no NumPy and no Python numbers: training needs that (section e02).
- No samples raise ValueError.
- So do images that differ in shape; the message has the number of the first that is not shaped like image 0.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Int64, Shaped
from torch import Tensor


def collate_detections(
    samples: Sequence[tuple[Shaped[Tensor, "channels height width"], Shaped[Tensor, "_ 4"]]],
) -> tuple[Shaped[Tensor, "batch channels height width"], Shaped[Tensor, "total 4"], Int64[Tensor, "total"]]:
    """The batch of these pairs (image, boxes)."""
    images = torch.cat([image for image, _ in samples])
    boxes = torch.stack([found for _, found in samples])
    owner = torch.cat([torch.full((len(found),), number) for number, (_, found) in enumerate(samples)])
    return images, boxes, owner
