"""From noise to pictures."""

import torch
from torch import Tensor, nn


def guided(model: nn.Module, x: Tensor, t: Tensor, labels: Tensor, guidance: float) -> Tensor:
    """The velocity without a label, and from there `guidance` times the way to that with one."""
    none = torch.full_like(labels, model.none)  # (size,)
    both = model(x.repeat(2, 1), t.repeat(2), torch.cat([none, labels]))  # (2 size, pixels)
    free, told = both.chunk(2)  # (size, pixels) each
    return free + guidance * (told - free)  # (size, pixels)


@torch.no_grad()
def paint(
    model: nn.Module, labels: Tensor, steps: int, gen: torch.Generator, guidance: float = 2.0
) -> Tensor:
    """A new picture of each label's kind, in this many steps of Euler."""
    training = model.training
    model.eval()
    x = torch.randn(len(labels), model.pixels, generator=gen)  # (size, pixels)
    for step in range(steps):
        t = torch.full((len(labels),), step / steps)  # (size,)
        x = x + guided(model, x, t, labels, guidance) / steps  # (size, pixels)
    model.train(training)
    return x  # (size, pixels)
