"""A classifier of sequences: one layer of attention, one of two linear maps."""

import logging

import torch
from torch import Tensor, nn

from .data import CLASSES, FEATURES

log = logging.getLogger(__name__)


def squash(x: Tensor) -> Tensor:
    """Features, on a scale of logarithms."""
    return x.sign() * x.abs().log1p()


def mask(lengths: Tensor, time: int) -> Tensor:
    """(rows, time): which places hold something."""
    return torch.arange(time, device=lengths.device) < lengths[:, None]


def distances(time: int, device: torch.device) -> Tensor:
    """(time, time): how far two places are apart."""
    place = torch.arange(time, device=device)
    return (place[:, None] - place).abs()


def attend(q: Tensor, k: Tensor, v: Tensor, bias: Tensor) -> Tensor:
    """Attention (rows, heads, time, dim), with a bias (rows, heads, time, time) on the scores."""
    scores = q @ k.mT / q.shape[-1] ** 0.5 + bias
    return scores.softmax(-1) @ v


def bounded(x: Tensor, update: Tensor, limit: float = 1.0) -> Tensor:
    """x plus the update, which is scaled down to a root mean square of `limit` if that is larger."""
    rms = update.detach().square().mean().sqrt()
    factor = (limit / rms).clamp(max=1.0)
    return x + update * factor


def pooled(x: Tensor, lengths: Tensor) -> Tensor:
    """(rows, width): the mean over the places of each row that hold something; zeros if none does."""
    held = mask(lengths, x.shape[1])[:, :, None]
    return x.masked_fill(~held, 0.0).sum(1) / lengths.clamp(min=1)[:, None]


class Scale(nn.Module):
    """Root mean square normalisation."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        rms = x.square().mean(-1, keepdim=True).sqrt()
        log.debug("rms between %s and %s", rms.min(), rms.max())
        return x / (rms + 1e-6) * self.weight


class Recency(nn.Module):
    """A bias (heads, time, time) towards what is near, stronger with each call in training."""

    def __init__(self, heads: int, warmup: int = 8) -> None:
        super().__init__()
        self.warmup = warmup
        self.slopes = nn.Parameter(0.5 ** torch.arange(1, heads + 1))
        self.register_buffer("steps", torch.zeros(()), persistent=False)

    def forward(self, time: int) -> Tensor:
        if self.training:
            self.steps += 1
        strength = (self.steps / self.warmup).clamp(max=1.0)
        return -strength * self.slopes[:, None, None] * distances(time, self.slopes.device)


class FeedForward(nn.Module):
    """Two linear maps; `active` is the share of hidden numbers above 0 in the last call."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.shares: list[Tensor] = []
        self.register_buffer("active", torch.zeros(()), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.up(x).relu()
        self.shares.append((hidden > 0).float().mean())
        self.active.copy_(self.shares[-1])
        return self.down(hidden)


class Net(nn.Module):
    """Scores (rows, CLASSES)."""

    def __init__(self, width: int = 16, heads: int = 2) -> None:
        super().__init__()
        self.heads = heads
        self.embed, self.norm = nn.Linear(FEATURES, width), Scale(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.recency, self.feed = Recency(heads), FeedForward(width)
        self.head = nn.Linear(width, CLASSES)
        log.debug("%d parameters", sum(p.numel() for p in self.parameters()))

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        h, time = self.embed(squash(x)), x.shape[1]
        q, k, v = self.qkv(self.norm(h)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        bias = self.recency(time).masked_fill(~mask(lengths, time)[:, None, None], -1e4)
        h = bounded(h, attend(q, k, v, bias).transpose(1, 2).flatten(2))
        return self.head(pooled(h + self.feed(h), lengths))
