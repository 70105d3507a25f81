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
    xs = _centres(width, align_corners, dtype, device)
    ys = _centres(height, align_corners, dtype, device)
    rows, columns = torch.meshgrid(ys, xs, indexing="ij")  # (height, width) each
    return torch.stack((columns, rows), dim=-1)  # (height, width, 2)


def _centres(
    count: int, align_corners: bool, dtype: torch.dtype | None, device: torch.device | str | None
) -> Float[Tensor, " count"]:
    first = -1.0 if align_corners and count > 1 else 1 / max(count, 1) - 1  # a single pixel is at 0
    return torch.linspace(first, -first, count, dtype=dtype, device=device)  # (count,)
