"""From the picture in a request to what the model takes."""

import torch
from torch import Tensor
from torch.nn import functional as F

SIZE = 12


class Refusal(Exception):
    """A request that is not answered, and the status that says so."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


def decode(picture: object) -> Tensor:
    """Nested lists, height × width × 3, of numbers from 0 to 255: a tensor (3, height, width) from 0 to 1."""
    try:
        x = torch.tensor(picture, dtype=torch.float32)  # (height, width, 3)
    except (TypeError, ValueError, RuntimeError):
        raise Refusal(422, "a picture is no nested lists of numbers") from None
    if x.dim() != 3 or x.shape[2] != 3 or x.numel() == 0:
        raise Refusal(422, f"a picture is height × width × 3, not {tuple(x.shape)}")
    if not (x.min() >= 0 and x.max() <= 255):
        raise Refusal(422, "a pixel is a number from 0 to 255")
    return x.permute(2, 0, 1) / 255  # (3, height, width)


def square(x: Tensor) -> Tensor:
    """The largest square in the middle of (3, height, width)."""
    height, width = x.shape[1:]
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    return x[:, top : top + side, left : left + side]  # (3, side, side)


def prepare(picture: object) -> Tensor:
    """What the model takes of a picture, (3, SIZE, SIZE)."""
    x = square(decode(picture))
    return F.interpolate(x.unsqueeze(0), SIZE, mode="area").squeeze(0)
