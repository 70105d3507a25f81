from jaxtyping import Shaped
from torch import Tensor


def center_crop(
    images: Shaped[Tensor, "*leading rows columns"], height: int, width: int
) -> Shaped[Tensor, "*leading height width"]:
    if images.ndim < 2:
        raise ValueError(f"an image has rows and columns, this tensor has shape {tuple(images.shape)}")
    rows, columns = images.shape[-2:]
    if not (1 <= height <= rows and 1 <= width <= columns):
        raise ValueError(f"a crop of ({height}, {width}) does not fit into images of ({rows}, {columns})")
    top, left = (rows - height) // 2, (columns - width) // 2
    return images[..., top : top + height, left : left + width]  # (..., height, width)
