"""The path from noise to pictures, and the loss of a model that is to know the way."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def times(size: int, gen: torch.Generator) -> Tensor:
    """A time for each row."""
    return torch.rand(size, generator=gen)  # (size,)


def between(noise: Tensor, x: Tensor, t: Tensor) -> Tensor:
    """Where each row is at its time, on the straight line from its noise to its picture."""
    t = t.unsqueeze(0)  # (1, size)
    return (1 - t) * noise + t * x  # (size, pixels)


def direction(noise: Tensor, x: Tensor) -> Tensor:
    """The velocity of each row on that line."""
    return x - noise  # (size, pixels)


def some_unlabelled(labels: Tensor, none: int, share: float, gen: torch.Generator) -> Tensor:
    """The labels, of which a share, drawn at random, is replaced by `none`."""
    chance = torch.rand(len(labels), generator=gen)  # (size,)
    return labels.masked_fill(chance < share, none)  # (size,)


def flow_loss(
    model: nn.Module, x: Tensor, labels: Tensor, gen: torch.Generator, share: float = 0.1
) -> Tensor:
    """How far the model's velocities are from the true ones, at one time of each row."""
    noise = torch.randn(x.shape, generator=gen)  # (size, pixels)
    t = times(len(x), gen)  # (size,)
    guess = model(between(noise, x, t), t, some_unlabelled(labels, model.none, share, gen))  # (size, pixels)
    return F.mse_loss(guess, direction(noise, x))
