"""Cut the middle out of images, whatever comes before their last two dims.

A classifier was trained on crops of the image's centre. Images reach it as one mask (height, width), as a
batch (batch, channels, height, width), or as a video with a time dim as well.

    image = torch.arange(20).view(4, 5)
    center_crop(image, 2, 2)      # [[ 6,  7],
                                  #  [11, 12]]

Of the 4 rows one is cut above and one below. Of the 5 columns three have to go: one is cut from the left
and two from the right. Where the number to cut is odd, the bottom and the right always lose one more.

Rules:

- Any number of leading dims, from none on, also of size 0; any dtype, any strides.
- The result is a view of the images: nothing is copied, a crop of the full size included, and gradients
  flow to the pixels inside. The images are not changed.
- ValueError, where slices would return something else without a word: for a height or width below 1 or
  larger than the images', and for images with fewer than two dims.
"""

from jaxtyping import Shaped
from torch import Tensor


def center_crop(
    images: Shaped[Tensor, "*leading rows columns"], height: int, width: int
) -> Shaped[Tensor, "*leading height width"]:
    """The middle of each image.

    Args:
        images: one image or any batch of them, (..., rows, columns).
        height: rows to keep, 1 or more.
        width: columns to keep, 1 or more.

    Returns:
        A view of the images, (..., height, width).

    Raises:
        ValueError: the crop is empty or larger than the images, or the images lack a dim.
    """
    if images.ndim < 2:
        raise ValueError(f"an image has rows and columns, this tensor has shape {tuple(images.shape)}")
    rows, columns = images.shape[-2:]
    if not (1 <= height <= rows and 1 <= width <= columns):
        raise ValueError(f"a crop of ({height}, {width}) does not fit into images of ({rows}, {columns})")
    top, left = (rows - height) // 2, (columns - width) // 2
    return images[..., top : top + height, left : left + width]  # (..., height, width)
