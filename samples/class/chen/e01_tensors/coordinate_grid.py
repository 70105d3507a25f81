"""Where an image's pixels lie, in coordinates from -1 to 1 that do not depend on its size.

Image samplers such as `grid_sample` read an image at points (x, y): x runs from left to right, y from
top to bottom. `grid[row, column]` holds the (x, y) of that pixel's centre, by one of two conventions:

- `align_corners=False`: -1 and 1 are the outer edges of the image. Pixel i of the n pixels along a
  side has its centre at (2 * i + 1) / n - 1.
- `align_corners=True`: -1 and 1 are the centres of the first and the last pixel, the others lie
  evenly between. A side of one pixel has its centre at 0.

    coordinate_grid(1, 2)                       # [[[-0.5, 0.0], [0.5, 0.0]]]
    coordinate_grid(2, 3, align_corners=True)   # [[[-1, -1], [0, -1], [1, -1]],
                                                #  [[-1,  1], [0,  1], [1,  1]]]

Rules: make every tensor with a factory function (`torch.arange`, `linspace`, `zeros`, `full`, `eye`,
`zeros_like`, …) right on the device where it is wanted; nothing is copied there from the CPU, neither
by `.to(device)` nor by `torch.tensor([...], device=device)`. `dtype=None` and `device=None` mean
torch's defaults at the time of the call, as they do in `torch.zeros`. A side of 0 pixels gives an empty
grid. No Python loop over rows, columns or images. Each call, of either function, returns memory of its own.
"""

import torch
from jaxtyping import Float, Shaped
from torch import Tensor


def coordinate_grid(
    height: int,
    width: int,
    *,
    align_corners: bool = False,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> Float[Tensor, "height width 2"]:
    """The (x, y) of every pixel's centre.

    Args:
        height: number of rows, 0 or more.
        width: number of columns, 0 or more.
        align_corners: whether -1 and 1 are centres of pixels or edges of the image.
        dtype: a floating dtype; float64 is computed in float64, and float16 does not overflow on the way on
            sides of up to 65504 pixels, its largest number. None for torch's default.
        device: where the grid is made. None for torch's default.

    Returns:
        The grid, (height, width, 2).
    """
    raise NotImplementedError


def identity_transforms(images: Shaped[Tensor, "batch channels height width"]) -> Float[Tensor, "batch 2 3"]:
    """The transform [[1, 0, 0], [0, 1, 0]], which moves nothing, for every image.

    It is where a learned warp starts: `affine_grid` turns it into coordinate grids.

    Args:
        images: a batch of images, also an empty one; only shape, dtype and device are looked at.

    Returns:
        The transforms, (batch, 2, 3), on the device of the images and in their dtype. For images of
        integers (uint8 pixels) or bools torch's default dtype.
    """
    raise NotImplementedError
