"""A grid of pixel coordinates: where each pixel of an image lies, from -1 to 1.

Samplers such as `grid_sample` read an image of any size at points (x, y): x runs from left to right, y from top to
bottom. Make the grid whose entry [row, column] is the (x, y) of that pixel's centre.

- By default -1 and 1 are the image's outer edges: pixel i of n has its centre at (2 * i + 1) / n - 1.
- With `align_corners` they are the centres of the first and last pixel, with the others evenly between.
- The grid has the dtype and device asked for. No loop over rows or columns.

    coordinate_grid(1, 2)                       # [[[-0.5, 0.0], [0.5, 0.0]]]
    coordinate_grid(2, 3, align_corners=True)   # [[[-1, -1], [0, -1], [1, -1]],
                                                #  [[-1,  1], [0,  1], [1,  1]]]

Fine print:
- A side of one pixel has its centre at 0; a side of 0 pixels makes an empty grid.
- float64 is computed in float64, not cast from float32.
- Where no dtype or device is given, torch's defaults count, as they are at the time of the call.
- The grid is made on its device: nothing is copied there from the CPU.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def coordinate_grid(
    height: int,
    width: int,
    *,
    align_corners: bool = False,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> Float[Tensor, "height width 2"]:
    """The (x, y) of every pixel's centre, in a floating dtype."""
    raise NotImplementedError
