"""Cut the middle out of images, whatever comes before their last two dims.

A classifier was trained on crops of the image's centre. Images reach it as one mask (height, width), as a batch
(batch, channels, height, width), or as a video with a time dim as well.

    image = torch.arange(20).view(4, 5)
    center_crop(image, 3, 2)      # [[ 1,  2],
                                  #  [ 6,  7],
                                  #  [11, 12]]

Of the 4 rows one is cut, below. Of the 5 columns three have to go: one is cut from the left and two from the right.

- Where the number to cut is odd, the bottom and the right lose one more. (torchvision does so at times only.)
- Any number of dims, also none, may stand before the last two.

Fine print:
- The crop is a view, whatever the images' strides and also at full size: no pixel is copied.
- Pixels keep their dtype.
- An empty batch of images gives an empty batch of crops.
- A height or width below 1, or larger than the images', raises ValueError; so do tensors with fewer than two dims.
"""

from jaxtyping import Shaped
from torch import Tensor


def center_crop(
    images: Shaped[Tensor, "*leading rows columns"], height: int, width: int
) -> Shaped[Tensor, "*leading height width"]:
    """The middle `height` rows and `width` columns of each image."""
    raise NotImplementedError
