"""The pictures: how they are made, how they become numbers, and what a painted one shows."""

import torch
from torch import Tensor

KINDS = ("bar", "post", "cross", "box")
SIDE = 8


def clean() -> tuple[Tensor, Tensor]:
    """The twelve pictures that there are, without grain, as bytes, and the number of the kind of each."""
    drawn = torch.zeros(4, 3, SIDE, SIDE, dtype=torch.uint8)  # (kind, place, row, column)
    for place in range(3):
        at = slice(1 + 2 * place, 3 + 2 * place)
        bar, post, cross, box = drawn[:, place]
        bar[at, 1:7] = post[1:7, at] = 255
        cross[at, 1:7] = cross[1:7, at] = 255
        box[place : place + 6, place : place + 6] = 255
        box[place + 1 : place + 5, place + 1 : place + 5] = 0
    return drawn.flatten(0, 1), torch.arange(4).repeat_interleave(3)  # (12, 8, 8), (12,)


def pictures(count: int, seed: int) -> tuple[Tensor, Tensor]:
    """Pictures with grain, as bytes, and the number of the kind of each."""
    gen = torch.Generator().manual_seed(seed)
    drawn, kinds = clean()
    which = torch.randint(len(kinds), (count,), generator=gen)  # (count,)
    grain = 10 * torch.randn(count, SIDE, SIDE, generator=gen)  # (count, 8, 8)
    return (drawn[which] + grain).clamp(0, 255).round().to(torch.uint8), kinds[
        which
    ]  # (count, 8, 8), (count,)


def scaled(pictures: Tensor) -> Tensor:
    """Bytes as the numbers that the model works with: from -1, black, to 1, white."""
    return pictures.flatten(1).float() / 127.5 - 1  # (count, pixels)


def unscaled(x: Tensor) -> Tensor:
    """Those numbers as bytes again."""
    levels = (x.clamp(-1, 1) + 1) * 127.5  # (count, pixels)
    return levels.round().to(torch.uint8).view(-1, SIDE, SIDE)  # (count, 8, 8)


def nearest(pictures: Tensor) -> tuple[Tensor, Tensor]:
    """Which of the twelve is the nearest to each picture, and how far it is: the root of the mean square."""
    off = pictures.float().unsqueeze(1) - clean()[0].float()  # (count, 12, 8, 8)
    far, which = off.square().mean(dim=(2, 3)).sqrt().min(dim=1)  # (count,) each
    return which, far
